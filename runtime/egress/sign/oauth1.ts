/** OAuth 1.0a for requests with secrets (RFC 5849 section 3). */
import { createHmac } from 'node:crypto'
import { headerValue } from '../exchange/headers.ts'
import { type RequestSigner, SignError, type SignedRequest } from './signer.ts'

type Pair = readonly [name: string, value: string]

const HASHES = { 'HMAC-SHA1': 'sha1', 'HMAC-SHA256': 'sha256' } as const

/** Implements `ctx.sign.oauth1`. */
export const signOAuth1: RequestSigner<'oauth1'> = (
  { method = 'HMAC-SHA1', realm },
  request,
  { credential: { oauth1 }, nowMs, nonce },
) => {
  if (!oauth1) throw new SignError('the call has no oauth1 credential')
  const own: Pair[] = [
    ['oauth_consumer_key', oauth1.consumer_key],
    ['oauth_nonce', nonce],
    ['oauth_signature_method', method],
    ['oauth_timestamp', String(Math.floor(nowMs / 1000))],
    ...(oauth1.token_id === '' ? [] : [['oauth_token', oauth1.token_id] as const]),
  ]
  const key = `${encode(oauth1.consumer_secret)}&${encode(oauth1.token_secret)}`
  const signature = createHmac(HASHES[method], key)
    .update(baseString(request, own))
    .digest('base64')
  const parameters = [...own, ['oauth_signature', signature] as const]
  const pairs = parameters.map(([name, value]) => `${name}="${encode(value)}"`)
  if (realm !== undefined) pairs.unshift(`realm="${realm.replace(/["\\\r\n]/g, '')}"`)
  return { headers: [['authorization', `OAuth ${pairs.join(', ')}`]], signature }
}

/** Returns the signature base string (section 3.4.1): method, URL without query, all parameters in order. */
export function baseString(request: SignedRequest, own: readonly Pair[]): string {
  const { url, method } = request
  const all = [...url.searchParams, ...formOf(request), ...own]
    .map(([name, value]): Pair => [encode(name), encode(value)])
    .sort(byBytes)
    .map((pair) => pair.join('='))
    .join('&')
  return [method.toUpperCase(), `${url.origin}${url.pathname}`, all].map(encode).join('&')
}

/** Returns the parameters of an urlencoded form, or none for any other body (section 3.4.1.3.1). */
function formOf({ headers, body }: SignedRequest): Pair[] {
  const type = headerValue(headers, 'content-type') ?? ''
  if (body === null || !/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) return []
  return [...new URLSearchParams(Buffer.from(body).toString())]
}

const byBytes = (a: Pair, b: Pair): number =>
  a[0] === b[0] ? compare(a[1], b[1]) : compare(a[0], b[0])
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

/** Percent-encodes all characters except letters, digits, `-`, `.`, `_` and `~` (section 3.6). */
const encode = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  )
