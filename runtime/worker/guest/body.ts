import { blobBytes, isBlob } from './blob.ts'
import { bytesOf, isByteSource, toBase64 } from './bytes.ts'
import { randomUUID } from './crypto.ts'
import { encodeMultipart, isFormData } from './form-data.ts'
import { isObject } from './own.ts'
import { isSearchParams } from './url-search-params.ts'
import { decodeUtf8, encodeUtf8 } from './utf8.ts'

/** Complete body: text or bytes, and its content type. */
export type Body = {
  readonly content: string | Uint8Array<ArrayBuffer>
  readonly type: string | null
}

/** Body as it crosses to the host. */
type WireBody = { encoding: 'utf8' | 'base64' | null; body: string }

/**
 * Converts a caller's value to a body. Returns null if there is none.
 *
 * @throws TypeError if it is not text, bytes, a form, a blob or search parameters
 */
export function toBody(value: unknown): Body | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string')
    return { content: value.toWellFormed(), type: 'text/plain;charset=UTF-8' }
  if (isByteSource(value)) return { content: bytesOf(value).slice(), type: null }
  if (isObject(value)) {
    if (isSearchParams(value)) {
      const type = 'application/x-www-form-urlencoded;charset=UTF-8'
      return { content: value.toString(), type }
    }
    if (isFormData(value)) {
      const boundary = `----keyway${randomUUID().replaceAll('-', '')}`
      const type = `multipart/form-data; boundary=${boundary}`
      return { content: encodeMultipart(value, boundary), type }
    }
    if (isBlob(value)) return { content: blobBytes(value), type: value.type || null }
  }
  throw new TypeError(
    `a body is text, bytes, FormData, URLSearchParams or a Blob, not ${Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`}; write JSON with JSON.stringify`,
  )
}

/** Encodes a body for the host. */
export function toWireBody(body: Body | null): WireBody {
  if (body === null) return { encoding: null, body: '' }
  return typeof body.content === 'string'
    ? { encoding: 'utf8', body: body.content }
    : { encoding: 'base64', body: toBase64(body.content) }
}

/** Returns a body's text, decoded as UTF-8 without a byte order mark. */
export function bodyText(body: Body | null): string {
  if (body === null) return ''
  const text = typeof body.content === 'string' ? body.content : decodeUtf8(body.content)
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

/** Returns a copy of a body's bytes. */
export function bodyBytes(body: Body | null): Uint8Array<ArrayBuffer> {
  if (body === null) return new Uint8Array(0)
  return typeof body.content === 'string' ? encodeUtf8(body.content) : body.content.slice()
}
