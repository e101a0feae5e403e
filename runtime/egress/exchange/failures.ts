/** Converts network failures to RuntimeErrors: those of sockets, TLS, undici and proxies. */

import { cut } from '../../bounded/cut.ts'
import { type RuntimeCode, RuntimeError } from '../../contract/errors/errors.ts'
import { errorOf, codeOf as thrownCode } from '../../contract/errors/thrown.ts'
import { membersOf } from '../../contract/schema/record.ts'

/** Failures before any data was sent. */
const CONNECT_FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused: nothing listens there, or a firewall is between',
  ENOTFOUND: 'the name was not found',
  ENODATA: 'the name has no address',
  EAI_AGAIN: 'the name could not be looked up for now',
  EAI_FAIL: 'the name could not be looked up',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  EADDRNOTAVAIL: 'no local address can reach it',
  ECONNRESET: 'the connection was closed while it was being opened',
  EPIPE: 'the connection was closed while it was being opened',
}

const UNKNOWN =
  'the certificate comes from an unknown authority; to trust it, start Keyway with the file of its certificates in NODE_EXTRA_CA_CERTS'

const TLS_FAILURES: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'the certificate is self-signed; to trust it, start Keyway with its file in NODE_EXTRA_CA_CERTS',
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN,
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS at this port',
}

/** undici's codes for an established connection. */
const REPLY_FAILURES: Readonly<Record<string, readonly [RuntimeCode, string]>> = {
  UND_ERR_SOCKET: ['upstream_closed', 'closed the connection in the middle'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['upstream_closed', 'sent another length than it announced'],
  HPE_INVALID_EOF_STATE: ['upstream_closed', 'closed the connection in the middle'],
  ECONNRESET: ['upstream_closed', 'closed the connection in the middle'],
  EPIPE: ['upstream_closed', 'closed the connection in the middle'],
  UND_ERR_DESTROYED: ['upstream_closed', 'was dropped: its connections were closed'],
  UND_ERR_CLOSED: ['upstream_closed', 'was dropped: its connections were closed'],
  UND_ERR_HEADERS_OVERFLOW: ['upstream_too_large', 'answered with too many headers'],
  UND_ERR_BODY_TIMEOUT: ['upstream_timeout', 'stopped sending'],
  ETIMEDOUT: ['upstream_timeout', 'stopped answering'],
  // Egress sets no header timeout of its own. Only a proxy's CONNECT has one.
  UND_ERR_HEADERS_TIMEOUT: [
    'upstream_connect_timeout',
    'was not reached through the proxy in time',
  ],
  UND_ERR_CONNECT_TIMEOUT: ['upstream_connect_timeout', 'was not reached in time'],
}

/** Codes by which TLS fails if a server speaks only plain text: it closes, or answers in its own protocol. */
const PLAIN = ['ECONNRESET', 'EPIPE', 'ERR_SSL_WRONG_VERSION_NUMBER']

/**
 * Returns the error for a failure while a connection was being opened.
 *
 * @param from `host:port`, as in the request's URL.
 * @param advice Advice if the server speaks only plain text.
 */
export function toConnectError(error: unknown, from: string, advice?: string): RuntimeError {
  if (error instanceof RuntimeError) return error
  const code = codeOf(error)
  if (code === 'ETIMEDOUT' || code === 'UND_ERR_CONNECT_TIMEOUT')
    return new RuntimeError('upstream_connect_timeout', `${from} was not reached in time`)
  const words = CONNECT_FAILURES[code] ?? tlsWords(code, error) ?? `the connection failed (${code})`
  const more = advice !== undefined && PLAIN.includes(code) ? `: ${advice}` : ''
  return new RuntimeError('upstream_rejected', `${from} was not reached: ${words}${more}`)
}

/**
 * Returns the error for a failed request. An error that is not a network failure is returned unchanged,
 * because a bug in Keyway must not look like one.
 *
 * @returns the signal's own RuntimeError if it has one, else upstream_*
 */
export function toUpstreamError(
  error: unknown,
  { from, proxied, signal }: { from: string; proxied: boolean; signal: AbortSignal },
): unknown {
  if (error instanceof RuntimeError) return error
  if (signal.aborted) return endedError(signal, from)
  const code = codeOf(error)
  const proxyWords = proxied ? proxyFailure(errorOf(error), code) : null
  if (proxyWords !== null)
    return new RuntimeError('upstream_rejected', `${from} was not reached: ${proxyWords}`)
  const row = REPLY_FAILURES[code]
  if (row !== undefined) return new RuntimeError(row[0], `${from} ${row[1]}`)
  // Some of the parser's errors have no code, and undici's assertions fail for a status such as 000.
  if (
    code === 'ERR_ASSERTION' ||
    code.startsWith('HPE_') ||
    (error instanceof Error && error.name === 'HTTPParserError')
  )
    return new RuntimeError('upstream_garbled', `${from} did not answer with valid HTTP`)
  return code === '' || code.startsWith('UND_ERR_') ? error : toConnectError(error, from)
}

/** Returns the error for a request whose call has ended: the signal's own one if it has one. */
export const endedError = ({ reason }: AbortSignal, from: string): RuntimeError =>
  reason instanceof RuntimeError
    ? reason
    : new RuntimeError('upstream_timeout', `${from} did not answer in time`)

/** Returns the reason why the outbound proxy failed, or `null` if it was not the cause. */
function proxyFailure(error: Error, code: string): string | null {
  const status = /Proxy response \((\d+)\)/.exec(error.message)?.[1]
  if (error.message.includes('(407)')) return 'the outbound proxy wants credentials (407)'
  if (status !== undefined) return `the outbound proxy answered CONNECT with ${status}`
  if (code === 'UND_ERR_PRX_TLS') return 'the certificate of the outbound proxy is for another name'
  if (code === 'UND_ERR_PRX_CONN') return 'the outbound proxy closed the connection'
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code.endsWith('UNREACH'))
    return `the outbound proxy was not reached: ${CONNECT_FAILURES[code]}`
  return null
}

function tlsWords(code: string, error: unknown): string | null {
  if (TLS_FAILURES[code] !== undefined)
    return `TLS was refused: ${TLS_FAILURES[code]}${namesOf(error)}`
  const isTls = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|EPROTO$|HOSTNAME_MISMATCH$|INVALID_)/.test(
    code,
  )
  return isTls ? `TLS was refused (${code})` : null
}

/** Maximum length of a certificate's names in a message, in characters. */
const MAX_NAMES = 200

/** Returns the names in a certificate for another name, or an empty text for other failures. */
function namesOf(error: unknown): string {
  const names = membersOf(membersOf(error)['cert'])['subjectaltname']
  if (typeof names !== 'string' || !/^[ -~]+$/.test(names)) return ''
  return `: it has ${cut(names, MAX_NAMES)}; write one of its names into the address`
}

function codeOf(error: unknown): string {
  const code = error instanceof Error ? thrownCode(error) : undefined
  return typeof code === 'string' ? code : ''
}
