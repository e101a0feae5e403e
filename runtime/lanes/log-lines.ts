/** The log lines of one call, bounded by the host too: a guest may have broken its own bound. */
import type { Heads } from '../protocol/frames.ts'

type Line = Heads['log']

/** Most lines of one call; then one more says that others are dropped. */
const MAX_LINES = 200
/** Longest message, and longest JSON of a line's fields, in characters. */
const MAX_LENGTH = 16 * 1024

const DROPPED: Line = {
  level: 'warn',
  message: `further log lines are dropped: the limit is ${MAX_LINES}`,
  fields: null,
}

/** What is logged of a call's line: the line itself, cut; a word on those dropped; or nothing. */
export function boundLine(line: Line, count: number): Line | null {
  if (count <= MAX_LINES) return shorten(line)
  return count === MAX_LINES + 1 ? DROPPED : null
}

function shorten({ level, message, fields }: Line): Line {
  return {
    level,
    message: message.slice(0, MAX_LENGTH),
    fields: lengthOf(fields) > MAX_LENGTH ? { fields_dropped: 'too long' } : fields,
  }
}

function lengthOf(fields: unknown): number {
  try {
    return JSON.stringify(fields)?.length ?? 0
  } catch {
    // Nested deeper than the stack.
    return Number.POSITIVE_INFINITY
  }
}
