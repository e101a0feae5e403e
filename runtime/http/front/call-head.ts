/**
 * Parses the head of a plain capability call from bytes. It accepts an exact list of request forms; any other request
 * is left to node:http.
 */
import { type CapabilityName, isCapability } from '../../contract/capabilities/capabilities.ts'
import { INPUTS } from '../../contract/limits/inputs.ts'
import { JSON_TYPE } from '../edge/guards.ts'
import { CORRELATION } from '../edge/request-id.ts'

export type CallHead = {
  /** Connector id, as in the path. */
  id: string
  capability: CapabilityName
  /** Length of the head with its empty line, in bytes. */
  headBytes: number
  /** Length of the body, in bytes. */
  bodyBytes: number
  /** Correlation ids sent by the caller, by header name in lower case. */
  correlation: ReadonlyMap<string, string>
}

/**
 * Checks that a well-formed head must also pass. Only the answer of `isConnector` can change between calls:
 * for a repeated head, only it is checked again.
 */
export type HeadRules = {
  connectorsPath: string
  /** Whether a connector with this id exists. */
  isConnector(id: string): boolean
  /** Whether the Host header names this host. */
  isHost(host: string): boolean
  /** Whether the Authorization header (empty: absent) permits calling connectors. */
  isAllowed(authorization: string): boolean
}

/** Longest accepted head, in bytes. */
const MAX_HEAD_BYTES = 8192

const BLANK_LINE = '\r\n\r\n'
const REQUEST_LINE = /^POST (\/[A-Za-z0-9._/-]+) HTTP\/1\.1$/
/** Field name: a subset of `token`, RFC 9110 section 5.6.2. */
const NAME = /^[A-Za-z0-9._-]+$/
/** Field value: RFC 9110 section 5.5 without obs-text. */
const VALUE = /^[\t\x20-\x7e]*$/
const LENGTH = /^[1-9][0-9]{0,6}$/

/** Headers that do not affect a call; `fetch` of Node sends `sec-fetch-mode`. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'forwarded',
  'pragma',
  'sec-fetch-mode',
  'traceparent',
  'tracestate',
  'user-agent',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip',
])

/** Headers that are used; each may occur once. */
const READ: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'host',
  ...CORRELATION,
])

/**
 * Parses the head at the start of `bytes`. Null if the request is not a plain call: another method, path or header, an
 * incomplete or oversized head, or a body without Content-Length, empty, or over the limit.
 */
export function readCallHead(bytes: Buffer, rules: HeadRules): CallHead | null {
  const text = bytes.toString('latin1', 0, Math.min(bytes.length, MAX_HEAD_BYTES))
  const end = text.indexOf(BLANK_LINE)
  if (end < 0) return null
  const [line = '', ...fields] = text.slice(0, end).split('\r\n')
  const target = targetOf(line, `${rules.connectorsPath}/`)
  if (target === null) return null
  const headers = headersOf(fields)
  if (headers === null) return null
  const length = headers.get('content-length') ?? ''
  const bodyBytes = LENGTH.test(length) ? Number(length) : 0
  const isPlain =
    bodyBytes > 0 &&
    bodyBytes <= INPUTS.call_body.maxBytes &&
    JSON_TYPE.test(headers.get('content-type') ?? '') &&
    (headers.get('connection') ?? 'keep-alive').toLowerCase() === 'keep-alive' &&
    rules.isConnector(target.id) &&
    rules.isHost(headers.get('host') ?? '') &&
    rules.isAllowed(headers.get('authorization') ?? '')
  if (!isPlain || !headers.has('host')) return null
  return { ...target, headBytes: end + BLANK_LINE.length, bodyBytes, correlation: headers }
}

/** Connector and capability of a request line; null if it is not a plain call. */
function targetOf(line: string, prefix: string): { id: string; capability: CapabilityName } | null {
  const path = REQUEST_LINE.exec(line)?.[1]
  if (!path?.startsWith(prefix)) return null
  const [id = '', capability = '', ...more] = path.slice(prefix.length).split('/')
  return more.length === 0 && isCapability(capability) ? { id, capability } : null
}

/** Header values by lower-case name; null if one is malformed, unknown or repeated. */
function headersOf(fields: readonly string[]): Map<string, string> | null {
  const headers = new Map<string, string>()
  for (const field of fields) {
    const colon = field.indexOf(':')
    if (colon < 0) return null
    const name = field.slice(0, colon)
    const value = field.slice(colon + 1)
    if (!NAME.test(name) || !VALUE.test(value)) return null
    const known = name.toLowerCase()
    if (READ.has(known)) {
      if (headers.has(known)) return null
      headers.set(known, value.replace(/^[\t ]+|[\t ]+$/g, ''))
    } else if (!WITHOUT_EFFECT.has(known)) return null
  }
  return headers
}
