/** Replaces texts that stand alone in the bytes of a reply. */
import { RuntimeError } from '../../contract/errors/errors.ts'
import { isAlphanumeric, type Notes, type Search, searchBack } from '../../redact/text-search.ts'
import type { Echo } from './echoes.ts'

/** Limits of a text that grows by placeholders, in bytes. `hold` counts the memory that it takes. */
export type EchoLimits = { maxBytes: number; hold(bytes: number): void }

/** Prepared searches, and the echoes and their lengths by number. */
export type Known = {
  searches: readonly Search[]
  echoes: readonly Echo[]
  lengths: readonly number[]
}

/** Number of bytes after which the work can be interrupted. */
const SLICE_BYTES = 32 * 1024
/** Number of bytes that are searched before their echoes are replaced. */
const BLOCK_BYTES = 64 * 1024

/**
 * Replaces the echoes in a text; of several at one position, the longest. Run it with `inSlices`. Each byte
 * is searched once; a quarter of them, at the ends of blocks, twice.
 *
 * @param count called with the number of search steps, for tests
 * @returns the same buffer if there is no echo
 * @throws upstream_too_large and the errors of `room.hold`
 */
export function* replaceEchoes(
  text: Buffer,
  { searches, echoes, lengths }: Known,
  room: EchoLimits,
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
    let isNoted = false
    for (const search of searches) {
      let to = Math.min(end + search.maxLength, text.length)
      const standing = { state: 0, steps: 0 }
      while (to > base) {
        const from = Math.max(base, to - SLICE_BYTES)
        if (searchBack(search, text, { from, to }, standing, notes)) isNoted = true
        to = from
        yield
      }
      count(standing.steps)
    }
    if (!isNoted) continue
    for (let at = Math.max(base, next); at < end; at += 1) {
      if (at > pause) {
        yield
        pause = at + SLICE_BYTES
      }
      const number = numbers[at - base] ?? 0
      const echo = number === 0 ? undefined : echoes[number]
      if (echo === undefined || !mayBeginAt(text, at)) continue
      const { bytes, instead } = echo
      output.replace(at, at + bytes.length, instead)
      next = at + bytes.length
      at = next - 1
    }
  }
  return output.end()
}

/**
 * Reports whether no letter or digit precedes a position, except at the end of an escape (`\\n`, `\\u000a`,
 * `%0A`).
 */
function mayBeginAt(text: Buffer, at: number): boolean {
  if (at === 0 || !isAlphanumeric(text[at - 1] ?? 0)) return true
  if (text[at - 2] === BACKSLASH && SHORT_ESCAPES.includes(text[at - 1] ?? 0)) return true
  if (text[at - 3] === PERCENT) return areHex(text, at - 2, at)
  return text[at - 6] === BACKSLASH && text[at - 5] === LETTER_U && areHex(text, at - 4, at)
}

const [BACKSLASH, PERCENT, LETTER_U] = [0x5c, 0x25, 0x75]
/** Letters after the backslash of an escape in JSON. */
const SHORT_ESCAPES: Buffer = Buffer.from('nrtbf')

function areHex(text: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const letter = (text[at] ?? 0) | 0x20
    if (!((letter >= 0x61 && letter <= 0x66) || isDigit(text[at] ?? 0))) return false
  }
  return true
}

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39

/** Shorter pieces are copied byte by byte, which costs less than a call of `copy`. */
const SHORT_BYTES = 64

function copyTo(target: Buffer, at: number, from: Buffer, start: number, end: number): void {
  if (end - start >= SHORT_BYTES) return void from.copy(target, at, start, end)
  for (let byte = start; byte < end; byte += 1) target[at + byte - start] = from[byte] ?? 0
}

/** Writes a text with replacements, in order. Copies nothing if there are none. */
function createOutput(text: Buffer, { maxBytes, hold }: EchoLimits) {
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
    copyTo(written, length, from, start, end)
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
