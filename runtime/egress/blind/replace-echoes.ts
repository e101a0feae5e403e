/** Replaces what stands alone of many texts in the bytes of a reply. */
import { RuntimeError } from '../../contract/errors.ts'
import { isAlphanumeric, type Notes, type Search, searchBack } from '../../contract/text-search.ts'
import type { Echo } from './echoes.ts'

/** Where a text grows by placeholders: the most that it may have, and who counts what it takes, in bytes. */
export type Room = { maxBytes: number; hold(bytes: number): void }

/** What is looked for; echoes and their lengths by number. */
export type Known = {
  searches: readonly Search[]
  echoes: readonly Echo[]
  lengths: readonly number[]
}

/** Bytes after which the work may be interrupted. */
const SLICE_BYTES = 32 * 1024
/** Bytes that are searched before what was found in them is replaced. */
const BLOCK_BYTES = 64 * 1024

/**
 * The text without echoes, of two at one place the longer; itself where there is none. Work for `inSlices`.
 * Each byte is searched once, and a quarter of them, at the ends of blocks, twice.
 *
 * @param count Is told of the steps of the searches, for tests.
 * @throws upstream_too_large and what `room.hold` throws
 */
export function* replaceEchoes(
  text: Buffer,
  { searches, echoes, lengths }: Known,
  room: Room,
  count: (steps: number) => void = () => {},
): Generator<void, Buffer> {
  const longest = searches.reduce((max, { maxLength }) => Math.max(max, maxLength), 0)
  const block = Math.min(text.length, Math.max(BLOCK_BYTES, 4 * longest))
  const numbers = new Int32Array(block)
  const output = createOutput(text, room)
  let next = 0
  let pause = SLICE_BYTES
  for (let base = 0; base < text.length; base += block) {
    const end = Math.min(base + block, text.length)
    const notes: Notes = { base, numbers: numbers.fill(0), lengths }
    for (const search of searches) {
      let to = Math.min(end + search.maxLength, text.length)
      const standing = { state: 0, steps: 0 }
      while (to > base) {
        const from = Math.max(base, to - SLICE_BYTES)
        searchBack(search, text, { from, to }, standing, notes)
        to = from
        yield
      }
      count(standing.steps)
    }
    for (let at = Math.max(base, next); at < end; at += 1) {
      if (at > pause) {
        yield
        pause = at + SLICE_BYTES
      }
      const number = numbers[at - base] as number
      if (number === 0 || !mayBeginAt(text, at)) continue
      const { bytes, instead } = echoes[number] as Echo
      output.replace(at, at + bytes.length, instead)
      next = at + bytes.length
      at = next - 1
    }
  }
  return output.end()
}

/** Whether no letter or digit stands before a place, but one that ends an escape (`\n`, `\u000a`, `%0A`). */
function mayBeginAt(text: Buffer, at: number): boolean {
  if (at === 0 || !isAlphanumeric(text[at - 1] as number)) return true
  const before = text.toString('latin1', Math.max(0, at - 6), at)
  return /%[0-9A-Fa-f]{2}$|\\[nrtbf]$|\\u[0-9A-Fa-f]{4}$/.test(before)
}

/** Writes a text with replacements, in order; nothing is copied where there are none. */
function createOutput(text: Buffer, { maxBytes, hold }: Room) {
  let written: Buffer | null = null
  let length = 0
  let copied = 0

  function append(from: Buffer, start: number, end: number): void {
    const needed = length + end - start
    if (needed > maxBytes)
      throw new RuntimeError(
        'upstream_too_large',
        `The answer repeats secrets of the call, and has more than ${maxBytes} bytes with placeholders in their place`,
      )
    if (written === null || needed > written.length) {
      const size = Math.min(maxBytes, Math.max(needed, text.length, 2 * length))
      hold(size - (written?.length ?? 0))
      const larger = Buffer.allocUnsafe(size)
      written?.copy(larger, 0, 0, length)
      written = larger
    }
    from.copy(written, length, start, end)
    length = needed
  }

  return {
    replace(from: number, to: number, instead: Buffer): void {
      append(text, copied, from)
      append(instead, 0, instead.length)
      copied = to
    },
    end(): Buffer {
      if (written === null) return text
      append(text, copied, text.length)
      return written.subarray(0, length)
    },
  }
}
