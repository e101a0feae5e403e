/** WHATWG BufferSource. */
export type ByteSource = ArrayBuffer | ArrayBufferView

/** Reports whether a value is an ArrayBuffer or a view of one. */
export function isByteSource(value: unknown): value is ByteSource {
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value)
}

/**
 * Returns the bytes of a buffer or a view, not copied.
 *
 * @throws TypeError for any other value
 */
export function bytesOf(value: unknown, what = 'value'): Uint8Array<ArrayBuffer> {
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  if (ArrayBuffer.isView(value)) {
    // The cast: guests have no shared memory.
    return new Uint8Array(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength)
  }
  throw new TypeError(`the ${what} is not an ArrayBuffer or a view of one`)
}

/** Encodes bytes as base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  return bytes.toBase64()
}

/**
 * Decodes base64, as leniently as `atob`: white space and missing padding are allowed.
 *
 * @throws SyntaxError if it is not base64
 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromBase64(text)
}

/** Joins byte arrays. */
export function concatBytes(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
