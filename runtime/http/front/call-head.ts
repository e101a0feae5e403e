/**
 * The head of the usual capability call, read from bytes. It is an exact list of what is understood: whatever else a
 * request holds makes it another one, and those are node:http's.
 */
import { type CapabilityName, isCapability } from '../../contract/capabilities.ts'
import { INPUTS } from '../../contract/inputs.ts'
import { JSON_TYPE } from '../guards.ts'
import { CORRELATION } from '../request-id.ts'

export type CallHead = {
  /** The connector, as the path names it. */
  id: string
  capability: CapabilityName
  /** Bytes of the head, the empty line included. */
  headBytes: number
  /** Bytes of the body. */
  bodyBytes: number
  /** The caller's own ids of the request, by header name in lower case. */
  correlation: ReadonlyMap<string, string>
}

/** What a head has to fit besides its form. */
export type HeadRules = {
  connectorsPath: string
  /** Whether there is a connector of this name. */
  isConnector(id: string): boolean
  /** Whether the Host header names this host. */
  isHost(host: string): boolean
  /** Whether the Authorization header, empty for none, lets its sender call connectors. */
  isAllowed(authorization: string): boolean
}

/** Longest head that is read here, in bytes. */
const MAX_HEAD_BYTES = 8192

const BLANK_LINE = '\r\n\r\n'
const REQUEST_LINE = /^POST (\/[A-Za-z0-9._/-]+) HTTP\/1\.1$/
/** RFC 9110 section 5.6.2 without what no header of ours has. */
const NAME = /^[A-Za-z0-9._-]+$/
/** RFC 9110 section 5.5 without obs-text. */
const VALUE = /^[\t\x20-\x7e]*$/
const LENGTH = /^[1-9][0-9]{0,6}$/

/** Headers that change nothing of a call. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'forwarded',
  'pragma',
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

/** Headers that are read, each at most once. */
const READ: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'host',
  ...CORRELATION,
])

/**
 * The head at the beginning of `bytes`, or null for a request that is none of the usual calls: another method, path or
 * header, a head that is not there as a whole or too long, a body without a length, of none or of more than its limit.
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
  const isUsual =
    bodyBytes > 0 &&
    bodyBytes <= INPUTS.call_body.maxBytes &&
    JSON_TYPE.test(headers.get('content-type') ?? '') &&
    (headers.get('connection') ?? 'keep-alive').toLowerCase() === 'keep-alive' &&
    rules.isConnector(target.id) &&
    rules.isHost(headers.get('host') ?? '') &&
    rules.isAllowed(headers.get('authorization') ?? '')
  if (!isUsual || !headers.has('host')) return null
  return { ...target, headBytes: end + BLANK_LINE.length, bodyBytes, correlation: headers }
}

/** Connector and capability of a request line. */
function targetOf(line: string, prefix: string): { id: string; capability: CapabilityName } | null {
  const path = REQUEST_LINE.exec(line)?.[1]
  if (!path?.startsWith(prefix)) return null
  const [id = '', capability = '', ...more] = path.slice(prefix.length).split('/')
  return more.length === 0 && isCapability(capability) ? { id, capability } : null
}

/** Header values by name in lower case; null where one is not understood or comes twice. */
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
