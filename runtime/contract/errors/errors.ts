/**
 * Every error the runtime can raise, and the code of the closed list (error-codes.ts) that callers see.
 *
 * A row's key is our own, finer code, used in logs, metrics and tests. `wire` is the code that is sent. The
 * list of wire codes is closed by service.md section 7.1; no other code is ever sent.
 */

import { CALLER_ERRORS } from './caller-errors.ts'
import type { ErrorCode } from './error-codes.ts'
import { type Blame, caller, type ErrorRow, rows } from './error-row.ts'
import type { Position } from './position.ts'

type Own = Partial<ErrorRow>

/** A request of a connector that egress refuses. */
const policy = (meaning: string, own: Own = {}): ErrorRow => ({
  ...{ wire: 'permission_denied', raisedBy: 'Keyway.EgressPolicy', blame: 'connector' },
  ...{ retryable: false, ...own, meaning },
})
const keyway = (wire: ErrorCode, blame: Blame, meaning: string): ErrorRow => ({
  ...{ wire, raisedBy: 'Keyway', blame, retryable: true, meaning },
})
const host = (meaning: string): ErrorRow => keyway('service_error', 'operator', meaning)
const sandbox = (meaning: string, own: Own = {}): ErrorRow => ({
  ...{ wire: 'service_error', raisedBy: 'Keyway.Sandbox', blame: 'connector', retryable: true },
  ...{ ...own, meaning },
})
const network = (wire: ErrorCode, meaning: string, own: Own = {}): ErrorRow => ({
  ...{ wire, raisedBy: 'Keyway.Egress', blame: 'provider', retryable: true, ...own, meaning },
})
/** A refusal by the third-party system. */
const refusal = (raisedBy: string, meaning: string): ErrorRow => ({
  ...{ wire: 'api_error', raisedBy, blame: 'provider', retryable: false, meaning },
})
/** A reply that breaks the contract. */
const reply = (meaning: string, own: Own = {}): ErrorRow => ({
  ...{ wire: 'invalid_response', raisedBy: 'Keyway', blame: 'connector', retryable: false },
  ...{ ...own, meaning },
})

/** The error table, one row per kind of error. Messages of single cases are written where they are thrown. */
export const ERRORS = rows({
  ...CALLER_ERRORS,
  // Egress
  egress_url: policy('The URL may not be fetched (form, scheme, user info)'),
  context_misused: {
    wire: 'client_call_error',
    raisedBy: 'Keyway',
    blame: 'connector',
    retryable: false,
    meaning:
      'The code passed `ctx.fetch`, `ctx.ldap` or `ctx.sql` arguments that make no request, such as too few parameters',
  },
  egress_undeclared: policy('No egress entry allows this address or method'),
  egress_private: policy('The address is private and not granted', { blame: 'operator' }),
  egress_header: policy('A request header that connectors may not set'),
  egress_body: policy('The request body is larger than allowed'),
  egress_secret: policy(
    'A secret is in a place where it is not replaced, or may not be sent to this address',
  ),
  egress_redirects: policy('Too many redirects'),
  exchange_failed: refusal(
    'HTTPStatusError',
    'The login that the manifest declares (`exchange`) was refused',
  ),
  exchange_empty: reply('The login that the manifest declares (`exchange`) returned no token', {
    blame: 'provider',
  }),
  egress_setting: policy('A setting does not fit its place in an egress entry', {
    blame: 'caller',
  }),
  egress_concurrency: keyway(
    'rate_limit',
    'connector',
    'Too many requests, or too many bytes of them, are open at once',
  ),

  upstream_paced: keyway(
    'rate_limit',
    'provider',
    'The upstream, or its rate limit in the manifest, allows no request before the call’s deadline',
  ),
  upstream_said: refusal(
    'HTTPStatusError',
    'The upstream reported an error in a successful response (errors_in_body)',
  ),

  directory_refused: refusal(
    'LDAPError',
    'The directory answered with a result code other than success (`ctx.ldap`); `error_code` depends on the result, see [Results of the directory](../authors/ldap.md#results-of-the-directory)',
  ),

  database_refused: refusal(
    'SQLError',
    'The database answered with an error (`ctx.sql`); `error_code` depends on its code, see [Errors of the database](../authors/sql.md#errors-of-the-database)',
  ),

  // The network and the third-party system
  upstream_rejected: network(
    'connection_rejected',
    'Refused, unreachable, name not found, TLS refused',
  ),
  upstream_connect_timeout: network('connection_timeout', 'Connecting took too long'),
  upstream_closed: network(
    'connection_closed',
    'The connection was closed before the response was complete',
  ),
  upstream_timeout: network('request_timeout', 'The upstream did not answer in time'),
  upstream_too_large: network(
    'invalid_response',
    'The response of the upstream is larger than allowed',
    { retryable: false },
  ),
  upstream_garbled: network(
    'invalid_response',
    'The response of the upstream could not be decoded',
    { retryable: false },
  ),

  // OAuth, performed by the host
  oauth_refused: refusal(
    'HTTPStatusError',
    'The authorization server returned an error; repeating the request cannot help',
  ),
  oauth_garbled: reply('The response of the authorization server contains no usable token', {
    blame: 'provider',
  }),

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
  reply_invalid: reply('The reply of the connector breaks the contract'),
  reply_too_large: reply('The reply of the connector is larger than 32 MiB'),
  cursor_too_large: reply('The cursor of the connector is larger than 8 KiB'),
  paging_circles: reply('A page ends with the cursor of an earlier page'),
  paging_endless: reply('A listing has more pages than the operator allows'),

  // The sandbox
  deadline_passed: keyway('request_timeout', 'connector', 'The call ran past its deadline'),
  queue_full: keyway('rate_limit', 'connector', 'Too many calls of this connector are waiting'),
  isolate_memory: sandbox('The isolate ran out of memory'),
  isolate_disposed: sandbox('The isolate was disposed of while the call ran'),
  worker_died: sandbox('The worker process died while the call ran', { blame: 'runtime' }),
  worker_memory: sandbox('The worker process ran out of memory while the call ran'),
  quarantined: sandbox(
    'The connector’s worker process kept dying; the connector takes no calls for a while',
  ),
  load_failed: sandbox('The connector could not be loaded', { retryable: false }),

  // Keyway itself
  internal: keyway('internal_error', 'runtime', 'A defect of the runtime'),
  following_full: {
    ...caller(
      'rate_limit',
      'Too many lists are being followed; see Retry-After',
      'too_many_requests',
    ),
    retryable: true,
  },
  database_away: {
    wire: 'service_error',
    raisedBy: null,
    blame: 'operator',
    refusal: 'unavailable',
    retryable: true,
    meaning: 'The database is unavailable, or its disk is full; see Retry-After',
  },
  stopping: host('The runtime is stopping'),
  taken_away: keyway(
    'unexpected_error',
    'operator',
    'The operator removed the connector, the capability or the grant after a request that may change something was sent',
  ),
  host_exhausted: host('The host has run out of file descriptors, processes, memory or disk space'),
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
