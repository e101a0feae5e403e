/** What is judged of a JSON body before it is parsed: how much it holds, and whether it is text. */
import { MAX_DEPTH } from '../depth.ts'
import { RuntimeError } from '../errors.ts'
import { levelsIn, marksIn } from '../reply-limits.ts'

/**
 * Refuses JSON of more values than can be parsed and judged while others wait; false where it is nested too
 * deeply to have so many. Without it a body of 1 MiB held the host for 0.3 s, one of 8 MiB for half a minute where
 * each of its two million objects was a finding of its own.
 *
 * @param most Marks of structure
 * @throws body_too_large
 */
export function limitValues(json: Uint8Array, most: number): boolean {
  if (marksIn(json, most) <= most) return true
  // That it is nested too deeply says more than that it is large.
  if (levelsIn(json, MAX_DEPTH) > MAX_DEPTH) return false
  const message = `the body holds more than ${most / 2} values; send it in several parts`
  throw new RuntimeError('body_too_large', message)
}

/** How many characters of a body are read before the first byte that is not UTF-8; null when all are. */
export function notUtf8At(bytes: Uint8Array): number | null {
  // A prefix of a valid text may end within a character: `stream` takes that for unfinished, not for wrong.
  const read = (end: number, stream: boolean): number | null => {
    try {
      const decoder = new TextDecoder('utf-8', { fatal: true })
      return decoder.decode(bytes.subarray(0, end), { stream }).length
    } catch {
      // Not UTF-8 up to there: what is asked.
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
