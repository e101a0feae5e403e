const CHUNK = 8192

/** Encodes a text as UTF-8. Lone surrogates become U+FFFD. */
export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(utf8Length(text))
  let at = 0
  for (let i = 0; i < text.length; i += 1) {
    const point = pointAt(text, i)
    if (point > 0xffff) i += 1
    at = put(bytes, at, point)
  }
  return bytes
}

/** Encodes as much of a text as fits. Returns the numbers of units read and bytes written. */
export function encodeUtf8Into(text: string, bytes: Uint8Array): { read: number; written: number } {
  let at = 0
  let i = 0
  for (; i < text.length; i += 1) {
    const point = pointAt(text, i)
    if (at + width(point) > bytes.length) break
    if (point > 0xffff) i += 1
    at = put(bytes, at, point)
  }
  return { read: i, written: at }
}

/**
 * Decodes UTF-8 like the WHATWG decoder: a malformed maximal subpart becomes one U+FFFD.
 *
 * @throws TypeError if `fatal` and the bytes are malformed
 */
export function decodeUtf8(bytes: Uint8Array, fatal = false): string {
  const units = new Uint16Array(Math.min(bytes.length, CHUNK) + 2)
  let text = ''
  let count = 0
  for (let i = 0; i < bytes.length; ) {
    const sequence = readSequence(bytes, i)
    if (sequence.point < 0 && fatal) throw new TypeError('The encoded data was not valid UTF-8')
    i += sequence.length
    const point = sequence.point < 0 ? 0xfffd : sequence.point
    if (point > 0xffff) {
      units[count] = 0xd7c0 + (point >> 10)
      units[count + 1] = 0xdc00 + (point & 0x3ff)
      count += 2
    } else {
      units[count] = point
      count += 1
    }
    if (count >= CHUNK) {
      text += fromUnits(units.subarray(0, count))
      count = 0
    }
  }
  return text + fromUnits(units.subarray(0, count))
}

/** Returns the number of bytes at the end that start a sequence which may still be completed. */
export function incompleteTail(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte < 0xc0) continue
    const need = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    const found = readSequence(bytes, bytes.length - back)
    return need > back && found.point < 0 && found.length === back ? back : 0
  }
  return 0
}

/** Returns a string with one character for each byte. */
export function binaryString(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < bytes.length; i += CHUNK) text += fromUnits(bytes.subarray(i, i + CHUNK))
  return text
}

function fromUnits(units: ArrayLike<number>): string {
  // The cast: `apply` takes any value with a length, which its type does not express.
  return String.fromCharCode.apply(null, units as number[])
}

function utf8Length(text: string): number {
  let length = 0
  for (let i = 0; i < text.length; i += 1) {
    const point = pointAt(text, i)
    if (point > 0xffff) i += 1
    length += width(point)
  }
  return length
}

function pointAt(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  if (unit < 0xd800 || unit > 0xdfff) return unit
  const point = text.codePointAt(index) ?? 0
  return point > 0xffff ? point : 0xfffd
}

function width(point: number): number {
  return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
}

function put(bytes: Uint8Array, start: number, point: number): number {
  let at = start
  if (point < 0x80) {
    bytes[at] = point
    return at + 1
  }
  const size = width(point)
  bytes[at] = (size === 2 ? 0xc0 : size === 3 ? 0xe0 : 0xf0) | (point >> (6 * (size - 1)))
  for (let shift = 6 * (size - 2); shift >= 0; shift -= 6) {
    at += 1
    bytes[at] = 0x80 | ((point >> shift) & 0x3f)
  }
  return at + 1
}

const sequence = { point: 0, length: 1 }

/**
 * Reads the sequence at an index. `point` is -1 if it is malformed; `length` is then that of the malformed
 * part. Returns one shared object.
 */
function readSequence(bytes: Uint8Array, index: number): { point: number; length: number } {
  const first = bytes[index] ?? 0
  sequence.length = 1
  sequence.point = first < 0x80 ? first : -1
  if (first < 0xc2 || first > 0xf4) return sequence
  const need = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1
  let point = first & (0x3f >> need)
  let low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  let high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  for (let i = 1; i <= need; i += 1) {
    const byte = bytes[index + i]
    if (byte === undefined || byte < low || byte > high) return sequence
    point = (point << 6) | (byte & 0x3f)
    sequence.length += 1
    low = 0x80
    high = 0xbf
  }
  sequence.point = point
  return sequence
}
