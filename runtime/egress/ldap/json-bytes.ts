/** Writes JSON as bytes. Texts are copied directly from UTF-8, without creating values. */
import { isUtf8 } from 'node:buffer'

type JsonBytes = {
  /** Number of bytes written. */
  readonly length: number
  /** Writes bytes that are JSON already. */
  raw(json: Buffer): void
  /** Writes UTF-8 bytes as a text. @returns false, with nothing written, if they are not UTF-8 */
  text(from: Buffer, at: number, stop: number): boolean
  /** Writes a value. */
  value(value: unknown): void
  /** Writes bytes as a base64 text. */
  base64(from: Buffer, at: number, stop: number): void
  /** Truncates the output to this length. */
  cut(length: number): void
  /** Returns the output between two offsets, as a view that the next write may invalidate. */
  between(at: number, stop: number): Buffer
}

/** Maximum number of UTF-8 bytes per UTF-16 code unit. */
const MAX_CHARACTER_BYTES = 3

const [SPACE, TILDE, QUOTE, BACKSLASH] = [0x20, 0x7e, 0x22, 0x5c]

/** Creates an empty writer. @param firstBytes Initial capacity, in bytes. */
export function createJsonBytes(firstBytes: number): JsonBytes {
  let bytes: Buffer = Buffer.alloc(0)
  let length = 0

  function room(more: number): void {
    if (length + more <= bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(firstBytes, 2 * bytes.length, length + more))
    bytes.copy(larger, 0, 0, length)
    bytes = larger
  }

  function write(text: string): void {
    room(text.length * MAX_CHARACTER_BYTES)
    length += bytes.write(text, length)
  }

  return {
    get length() {
      return length
    },
    raw(json) {
      room(json.length)
      // A call of `copy` would take longer for so few bytes.
      for (let n = 0; n < json.length; n += 1) bytes[length + n] = json[n] ?? 0
      length += json.length
    },
    text(from, at, stop) {
      room(stop - at + 2)
      let to = length
      bytes[to] = QUOTE
      to += 1
      for (let n = at; n < stop; n += 1) {
        const byte = from[n] ?? 0
        if (byte < SPACE || byte > TILDE || byte === QUOTE || byte === BACKSLASH) {
          const part = from.subarray(at, stop)
          if (!isUtf8(part)) return false
          write(JSON.stringify(part.toString('utf8')))
          return true
        }
        bytes[to] = byte
        to += 1
      }
      bytes[to] = QUOTE
      length = to + 1
      return true
    },
    value: (value) => write(JSON.stringify(value)),
    base64: (from, at, stop) => write(`"${from.toString('base64', at, stop)}"`),
    cut(to) {
      length = to
    },
    between: (at, stop) => bytes.subarray(at, stop),
  }
}
