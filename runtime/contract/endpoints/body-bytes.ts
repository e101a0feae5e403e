/** Checks of a JSON body before it is parsed: its size, and whether it is UTF-8. */

import { RuntimeError } from '../errors/errors.ts'
import { levelsIn, marksIn } from '../limits/reply-limits.ts'
import { MAX_DEPTH } from '../schema/depth.ts'

/**
 * Rejects JSON with too many values to parse and validate on the main thread. Returns false if it is nested
 * too deeply. Without this limit, a body of 1 MiB blocked the host for 0.3 s, and one of 8 MiB for half a
 * minute, since each of its two million objects was an error.
 *
 * @param most Most structural characters
 * @throws body_too_large
 */
export function limitValues(json: Uint8Array, most: number): boolean {
  // A text has at most one structural character per byte.
  if (json.length <= most || marksIn(json, most) <= most) return true
  // Excessive nesting is the more specific error.
  if (levelsIn(json, MAX_DEPTH) > MAX_DEPTH) return false
  const message = `the body holds more than ${most / 2} values; send it in several parts`
  throw new RuntimeError('body_too_large', message)
}

/**
 * Returns the number of characters before the first byte that is not UTF-8, or null if all of it is UTF-8.
 */
export function notUtf8At(bytes: Uint8Array): number | null {
  // A prefix may end inside a character: with `stream` that is incomplete, not an error.
  const read = (end: number, stream: boolean): number | null => {
    try {
      const decoder = new TextDecoder('utf-8', { fatal: true })
      return decoder.decode(bytes.subarray(0, end), { stream }).length
    } catch {
      // The first invalid byte is in this prefix.
      return null
    }
  }
  if (read(bytes.byteLength, false) !== null) return null
  let [good, bad] = [0, bytes.byteLength + 1]
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2)
    if (read(middle, true) === null) bad = middle
    else good = middle
  }
  return read(good, true)
}
