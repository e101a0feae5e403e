/** Bounds the log lines of one call in the host, since a guest may have bypassed its own bound. */
import type { Heads } from '../protocol/frames.ts'

type Line = Heads['log']

/** Maximum number of lines of one call. One more line reports that others are dropped. */
const MAX_LINES = 200
/** Maximum length of a message, and of the JSON of a line's fields, in characters. */
const MAX_LENGTH = 16 * 1024

const DROPPED: Line = {
  level: 'warn',
  message: `further log lines are dropped: the limit is ${MAX_LINES}`,
  fields: null,
}

/** Returns what to log for a line of a call: the truncated line, a note on dropped ones, or null. */
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
    // Nested too deeply for the stack.
    return Number.POSITIVE_INFINITY
  }
}
