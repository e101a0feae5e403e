/** A place in a connector's bundle, as a stack names it: both counted from 1. */
export type Position = { line: number; column: number }
