import { fromBase64, toBase64 } from './bytes.ts'
import { DOMException } from './dom-exception.ts'
import { binaryString } from './utf8.ts'

/** WHATWG atob: decodes base64 to a string with one character for each byte. */
export function atob(data: string): string {
  try {
    return binaryString(fromBase64(`${data}`))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new DOMException('The string to be decoded is not valid base64', 'InvalidCharacterError')
  }
}

/** WHATWG btoa: encodes a string of characters up to U+00FF as base64. */
export function btoa(data: string): string {
  const text = `${data}`
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i)
    if (unit > 0xff) {
      throw new DOMException(
        'The string to be encoded has a character above U+00FF',
        'InvalidCharacterError',
      )
    }
    bytes[i] = unit
  }
  return toBase64(bytes)
}
