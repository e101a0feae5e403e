/**
 * AWS Signature Version 4 for requests with secrets. Source: "Create a signed AWS API request", AWS Identity
 * and Access Management user guide.
 */
import { createHash, createHmac } from 'node:crypto'
import type { AuthCredential } from '../../contract/connector/authentication.ts'
import { type HeaderList, headerValue } from '../exchange/headers.ts'
import { type RequestSigner, SignError, type SignedRequest } from './signer.ts'

const ALGORITHM = 'AWS4-HMAC-SHA256'

/** Implements `ctx.sign.aws`. */
export const signAws: RequestSigner<'aws'> = (
  { service, region },
  request,
  { credential, nowMs },
) => {
  const { id, secret, session } = keysOf(credential)
  const date = new Date(nowMs).toISOString().replace(/[-:]|\.\d{3}/g, '')
  const day = date.slice(0, 8)
  const hash = sha256(request.body ?? '')
  const added: HeaderList = [
    ['x-amz-date', date],
    ...(session === '' ? [] : [['x-amz-security-token', session] as const]),
    // Only S3 requires this header. It is signed only if it is sent.
    ...(service === 's3' ? [['x-amz-content-sha256', hash] as const] : []),
  ]
  const names = new Set(added.map(([name]) => name))
  const kept = request.headers.filter(([name]) => !names.has(name.toLowerCase()))
  const { text, signed } = canonical({ ...request, headers: [...kept, ...added] }, service, hash)
  const scope = `${day}/${region}/${service}/aws4_request`
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(
    (from, part) => createHmac('sha256', from).update(part).digest(),
    `AWS4${secret}`,
  )
  const signature = createHmac('sha256', key)
    .update([ALGORITHM, date, scope, sha256(text)].join('\n'))
    .digest('hex')
  const authorization = `${ALGORITHM} Credential=${id}/${scope}, SignedHeaders=${signed}, Signature=${signature}`
  return { headers: [...added, ['authorization', authorization]], signature }
}

/** Returns the request in canonical form, which both sides compute. */
function canonical(
  { url, method, headers }: SignedRequest,
  service: string,
  hash: string,
): { text: string; signed: string } {
  const all: HeaderList = [['host', url.host], ...headers]
  const names = [...new Set(all.map(([name]) => name.toLowerCase()))].filter(isSigned).sort()
  const lines = names.map((name) => {
    const value = headerValue(all, name) ?? ''
    return `${name}:${value.trim().replace(/ +/g, ' ')}\n`
  })
  const query = [...url.searchParams]
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .sort(([a, b], [c, d]) => (a === c ? compare(b, d) : compare(a, c)))
    .map((pair) => pair.join('='))
    .join('&')
  // The path is sent encoded, and encoded a second time here. Only S3 takes it as sent.
  const path = service === 's3' ? url.pathname : url.pathname.split('/').map(encode).join('/')
  const signed = names.join(';')
  return { text: [method, path, query, lines.join(''), signed, hash].join('\n'), signed }
}

/** Reports whether a header is signed. The host's own headers are not: they may change on the way. */
const isSigned = (name: string): boolean =>
  !['user-agent', 'accept-encoding', 'authorization', 'connection', 'content-length'].includes(name)

/** Returns the key pair, under any of the names that AWS, its tools and its SDKs use. */
function keysOf({ key_pair, service_account }: AuthCredential) {
  if (key_pair) return { id: key_pair.key_identifier, secret: key_pair.private_key, session: '' }
  const key = service_account?.key ?? {}
  const named = (...names: string[]): string => {
    const found = names.map((name) => key[name]).find((value) => typeof value === 'string')
    return found ?? ''
  }
  const id = named('access_key_id', 'aws_access_key_id', 'AccessKeyId', 'accessKeyId')
  const secret = named(
    ...['secret_access_key', 'aws_secret_access_key', 'SecretAccessKey', 'secretAccessKey'],
  )
  if (id === '' || secret === '')
    throw new SignError('the key of the service account has no access_key_id or secret_access_key')
  const session = named('session_token', 'aws_session_token', 'SessionToken', 'sessionToken')
  return { id, secret, session }
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

const sha256 = (data: string | Uint8Array): string =>
  createHash('sha256').update(data).digest('hex')

const encode = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  )
