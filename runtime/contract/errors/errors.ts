/**
 * Every error the runtime can raise, and the code of the closed list (error-codes.ts) that callers see.
 *
 * A row's key is our own, finer code, used in logs, metrics and tests. `wire` is the code that is sent. The
 * list of wire codes is closed by service.md section 7.1; no other code is ever sent.
 */

import { CALLER_ERRORS } from './caller-errors.ts'
import type { ErrorCode } from './error-codes.ts'
import { rows } from './error-row.ts'
import type { Position } from './position.ts'

const caller = { raisedBy: null, blame: 'caller', retryable: false } as const
const policy = {
  wire: 'permission_denied',
  raisedBy: 'Keyway.EgressPolicy',
  blame: 'connector',
  retryable: false,
} as const
const keyway = { raisedBy: 'Keyway', retryable: true } as const
const host = { ...keyway, wire: 'service_error', blame: 'operator' } as const
const sandbox = {
  wire: 'service_error',
  raisedBy: 'Keyway.Sandbox',
  blame: 'connector',
  retryable: true,
} as const
const network = { raisedBy: 'Keyway.Egress', blame: 'provider', retryable: true } as const
const refusal = { wire: 'api_error', blame: 'provider', retryable: false } as const
const reply = {
  wire: 'invalid_response',
  raisedBy: 'Keyway',
  blame: 'connector',
  retryable: false,
} as const

/** The error table, one row per kind of error. Messages of single cases are written where they are thrown. */
export const ERRORS = rows({
  ...CALLER_ERRORS,
  // Egress
  egress_url: {
    ...policy,
    meaning: 'The URL may not be fetched (form, scheme, user info)',
  },
  context_misused: {
    wire: 'client_call_error',
    raisedBy: 'Keyway',
    blame: 'connector',
    retryable: false,
    meaning:
      'The code passed `ctx.fetch`, `ctx.ldap` or `ctx.sql` arguments that make no request, such as too few parameters',
  },
  egress_undeclared: { ...policy, meaning: 'No egress entry allows this address or method' },
  egress_private: {
    ...policy,
    blame: 'operator',
    meaning: 'The address is private and not granted',
  },
  egress_header: { ...policy, meaning: 'A request header that connectors may not set' },
  egress_body: { ...policy, meaning: 'The request body is larger than allowed' },
  egress_secret: {
    ...policy,
    meaning: 'A secret is in a place where it is not replaced, or may not be sent to this address',
  },
  egress_redirects: { ...policy, meaning: 'Too many redirects' },
  exchange_failed: {
    ...refusal,
    raisedBy: 'HTTPStatusError',
    meaning: 'The login that the manifest declares (`exchange`) was refused',
  },
  exchange_empty: {
    wire: 'invalid_response',
    raisedBy: 'Keyway',
    blame: 'provider',
    retryable: false,
    meaning: 'The login that the manifest declares (`exchange`) returned no token',
  },
  egress_setting: {
    ...policy,
    blame: 'caller',
    meaning: 'A setting does not fit its place in an egress entry',
  },
  egress_concurrency: {
    ...keyway,
    wire: 'rate_limit',
    blame: 'connector',
    meaning: 'Too many requests, or too many bytes of them, are open at once',
  },

  upstream_paced: {
    ...keyway,
    wire: 'rate_limit',
    blame: 'provider',
    meaning:
      'The upstream, or its rate limit in the manifest, allows no request before the call’s deadline',
  },
  upstream_said: {
    ...refusal,
    raisedBy: 'HTTPStatusError',
    meaning: 'The upstream reported an error in a successful response (errors_in_body)',
  },

  directory_refused: {
    ...refusal,
    raisedBy: 'LDAPError',
    meaning:
      'The directory answered with a result code other than success (`ctx.ldap`); `error_code` depends on the result, see [Results of the directory](../authors/ldap.md#results-of-the-directory)',
  },

  database_refused: {
    ...refusal,
    raisedBy: 'SQLError',
    meaning:
      'The database answered with an error (`ctx.sql`); `error_code` depends on its code, see [Errors of the database](../authors/sql.md#errors-of-the-database)',
  },

  // The network and the third-party system
  upstream_rejected: {
    ...network,
    wire: 'connection_rejected',
    meaning: 'Refused, unreachable, name not found, TLS refused',
  },
  upstream_connect_timeout: {
    ...network,
    wire: 'connection_timeout',
    meaning: 'Connecting took too long',
  },
  upstream_closed: {
    ...network,
    wire: 'connection_closed',
    meaning: 'The connection was closed before the response was complete',
  },
  upstream_timeout: {
    ...network,
    wire: 'request_timeout',
    meaning: 'The upstream did not answer in time',
  },
  upstream_too_large: {
    ...network,
    wire: 'invalid_response',
    retryable: false,
    meaning: 'The response of the upstream is larger than allowed',
  },
  upstream_garbled: {
    ...network,
    wire: 'invalid_response',
    retryable: false,
    meaning: 'The response of the upstream could not be decoded',
  },

  // OAuth, performed by the host
  oauth_refused: {
    ...refusal,
    raisedBy: 'HTTPStatusError',
    meaning: 'The authorization server returned an error; repeating the request cannot help',
  },
  oauth_garbled: {
    wire: 'invalid_response',
    raisedBy: 'Keyway',
    blame: 'provider',
    retryable: false,
    meaning: 'The response of the authorization server contains no usable token',
  },

  // The connector's code
  connector_error: {
    wire: 'unexpected_error',
    raisedBy: 'ConnectorError',
    blame: 'connector',
    retryable: false,
    meaning: 'The connector raised the error itself, with a code of its choice',
  },
  connector_threw: {
    wire: 'unexpected_error',
    raisedBy: null,
    blame: 'connector',
    retryable: false,
    meaning: 'The connector threw something that is not a ConnectorError',
  },
  reply_invalid: { ...reply, meaning: 'The reply of the connector breaks the contract' },
  reply_too_large: { ...reply, meaning: 'The reply of the connector is larger than 32 MiB' },
  cursor_too_large: { ...reply, meaning: 'The cursor of the connector is larger than 8 KiB' },
  paging_circles: { ...reply, meaning: 'A page ends with the cursor of an earlier page' },
  paging_endless: { ...reply, meaning: 'A listing has more pages than the operator allows' },

  // The sandbox
  deadline_passed: {
    ...keyway,
    wire: 'request_timeout',
    blame: 'connector',
    meaning: 'The call ran past its deadline',
  },
  queue_full: {
    ...keyway,
    wire: 'rate_limit',
    blame: 'connector',
    meaning: 'Too many calls of this connector are waiting',
  },
  isolate_memory: { ...sandbox, meaning: 'The isolate ran out of memory' },
  isolate_disposed: { ...sandbox, meaning: 'The isolate was disposed of while the call ran' },
  worker_died: {
    ...sandbox,
    blame: 'runtime',
    meaning: 'The worker process died while the call ran',
  },
  worker_memory: {
    ...sandbox,
    meaning: 'The worker process ran out of memory while the call ran',
  },
  quarantined: {
    ...sandbox,
    meaning: 'The connector’s worker process kept dying; the connector takes no calls for a while',
  },
  load_failed: { ...sandbox, retryable: false, meaning: 'The connector could not be loaded' },

  // Keyway itself
  internal: {
    ...keyway,
    wire: 'internal_error',
    blame: 'runtime',
    meaning: 'A defect of the runtime',
  },
  following_full: {
    ...caller,
    wire: 'rate_limit',
    refusal: 'too_many_requests',
    retryable: true,
    meaning: 'Too many lists are being followed; see Retry-After',
  },
  database_away: {
    wire: 'service_error',
    raisedBy: null,
    blame: 'operator',
    refusal: 'unavailable',
    retryable: true,
    meaning: 'The database is unavailable, or its disk is full; see Retry-After',
  },
  stopping: { ...host, meaning: 'The runtime is stopping' },
  taken_away: {
    ...keyway,
    wire: 'unexpected_error',
    blame: 'operator',
    meaning:
      'The operator removed the connector, the capability or the grant after a request that may change something was sent',
  },
  host_exhausted: {
    ...host,
    meaning: 'The host has run out of file descriptors, processes, memory or disk space',
  },
})

/** Internal error codes: the keys of ERRORS. */
export type RuntimeCode = keyof typeof ERRORS

/**
 * Details of an error in addition to its code and message. All but `at` and `retryAfterMs` may be sent in the error
 * envelope.
 */
type ErrorDetails = {
  /** Wire code chosen by the connector, instead of the row's. */
  wire?: ErrorCode
  /** HTTP status of the upstream's response. */
  statusCode?: number
  appErrorCode?: string
  raisedBy?: string
  raisedIn?: string
  /** Where it was thrown in the connector's bundle, for authors who have the bundle's source map. */
  at?: readonly Position[]
  /** Raw data of the error, if the caller asked for it. */
  raw?: Record<string, unknown>
  /** Wait that the upstream asked for, in milliseconds. Never sent to callers. */
  retryAfterMs?: number
  /** The page of the call, which the error envelope repeats. */
  page?: { token: string | null; size: number | null }
}

/**
 * The one error class of the host. Callers switch on `code`. A single place turns it into a response
 * (`errorBody` in envelope.ts).
 */
export class RuntimeError extends Error {
  readonly code: RuntimeCode
  readonly details: ErrorDetails

  constructor(code: RuntimeCode, message: string, details: ErrorDetails = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'RuntimeError'
    this.code = code
    this.details = details
  }
}
