/** Reads from the text of a stack where in a connector's bundle an error was thrown. */
import type { Position } from '../contract/errors/position.ts'
import { MAX_POSITIONS } from '../protocol/worker-heads.ts'

/** Frame of a bundle, whose script is named after the connector's digest (connectors.ts). */
const FRAME = /^ {4}at .*?\b[0-9a-f]{64}\.js:([1-9]\d{0,8}):([1-9]\d{0,8})\)?$/gm

/** Longest part of a stack that is read, in characters. */
const MAX_STACK_LENGTH = 8000

/** Returns the bundle's frames of a stack, innermost first. The text is the guest's and may be anything. */
export function bundlePositions(stack: unknown): Position[] {
  if (typeof stack !== 'string') return []
  return [...stack.slice(0, MAX_STACK_LENGTH).matchAll(FRAME)]
    .slice(0, MAX_POSITIONS)
    .map(([, line, column]) => ({ line: Number(line), column: Number(column) }))
}
