/** Where in a connector's bundle an error was thrown, read from the text of its stack. */
import type { Position } from '../contract/errors/position.ts'
import { MAX_POSITIONS } from '../protocol/worker-heads.ts'

/** A frame of a bundle: its script is named after the connector's digest (connectors.ts). */
const FRAME = /^ {4}at .*?\b[0-9a-f]{64}\.js:([1-9]\d{0,8}):([1-9]\d{0,8})\)?$/gm

/** Longest text that is looked at, in characters. */
const MAX_STACK_LENGTH = 8000

/** The bundle's frames of a stack, the innermost first. The text is the guest's: it may be anything. */
export function bundlePositions(stack: unknown): Position[] {
  if (typeof stack !== 'string') return []
  return [...stack.slice(0, MAX_STACK_LENGTH).matchAll(FRAME)]
    .slice(0, MAX_POSITIONS)
    .map(([, line, column]) => ({ line: Number(line), column: Number(column) }))
}
