/** A position in a connector's bundle as stack traces give it, both counted from 1. */
export type Position = { line: number; column: number }
