/**
 * Every error the runtime can raise, and the code of the closed list (error-codes.ts) that callers see.
 *
 * A row's key is our own, finer code (logs, metrics, tests); `wire` is what leaves. The list of wire
 * codes is closed by service.md section 7.1: nothing else ever leaves.
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

/** The error table. One row per thing that can go wrong. The message of a single case is written where it is thrown. */
export const ERRORS = rows({
  ...CALLER_ERRORS,
  // Egress: what a connector may reach
  egress_url: {
    ...policy,
    meaning: 'The address is not one that may be fetched (form, scheme, user info)',
  },
  egress_undeclared: { ...policy, meaning: 'No egress entry allows this address or method' },
  egress_private: {
    ...policy,
    blame: 'operator',
    meaning: 'The address is private and not granted',
  },
  egress_header: { ...policy, meaning: 'A request header that connectors may not set' },
  egress_body: { ...policy, meaning: 'The request body is larger than may be sent' },
  egress_secret: {
    ...policy,
    meaning: 'A secret stands where it is not replaced, or may not go to this address',
  },
  egress_redirects: { ...policy, meaning: 'More redirects than are followed' },
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
    meaning: 'The login that the manifest declares (`exchange`) gave no token',
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
    meaning: 'More requests, or more bytes of them, open at once than may be',
  },

  upstream_paced: {
    ...keyway,
    wire: 'rate_limit',
    blame: 'provider',
    meaning: 'The upstream, or its limit in the manifest, allows no request before the call ends',
  },
  upstream_said: {
    ...refusal,
    raisedBy: 'HTTPStatusError',
    meaning: 'The upstream reported an error inside an answer of success (errors_in_body)',
  },

  directory_refused: {
    ...refusal,
    raisedBy: 'LDAPError',
    meaning: 'The directory answered with a result code other than success (`ctx.ldap`)',
  },

  database_refused: {
    ...refusal,
    raisedBy: 'SQLError',
    meaning: 'The database answered with an error (`ctx.sql`)',
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
    meaning: 'The connection was closed in the middle',
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
    meaning: 'The upstream answered with more than may be read',
  },
  upstream_garbled: {
    ...network,
    wire: 'invalid_response',
    retryable: false,
    meaning: 'The upstream answer could not be decoded',
  },

  // OAuth, which the host performs
  oauth_refused: {
    ...refusal,
    raisedBy: 'HTTPStatusError',
    meaning: 'The authorization server answered with an error; sending the same again cannot help',
  },
  oauth_garbled: {
    wire: 'invalid_response',
    raisedBy: 'Keyway',
    blame: 'provider',
    retryable: false,
    meaning: 'The authorization server answered with something that holds no usable token',
  },

  // The connector's code
  connector_error: {
    wire: 'unexpected_error',
    raisedBy: 'ConnectorError',
    blame: 'connector',
    retryable: false,
    meaning: 'The connector said so itself, with a code of its own choice',
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
  paging_circles: { ...reply, meaning: 'A page ends with a cursor that an earlier one ended with' },
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
    meaning: 'The worker process of the connector kept dying; it takes no calls for a while',
  },
  load_failed: { ...sandbox, retryable: false, meaning: 'The connector could not be loaded' },

  // Ourselves
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
    meaning: 'Too many lists are followed already; see Retry-After',
  },
  database_away: {
    wire: 'service_error',
    raisedBy: null,
    blame: 'operator',
    refusal: 'unavailable',
    retryable: true,
    meaning: 'The database is away, or its disk is full; see Retry-After',
  },
  stopping: { ...host, meaning: 'The runtime is stopping' },
  taken_away: {
    ...keyway,
    wire: 'unexpected_error',
    blame: 'operator',
    meaning:
      'The operator took away the connector, the capability or the grant while a request that may change something was sent',
  },
  host_exhausted: {
    ...host,
    meaning:
      'The system gives the host no more file descriptors, processes, memory or room on the disk',
  },
})

/** Our own codes: the keys of ERRORS. */
export type RuntimeCode = keyof typeof ERRORS

/** What an error carries in addition to its code and message; all but `at` and `retryAfterMs` may leave in the error envelope. */
type ErrorDetails = {
  /** Another wire code than the row's: the connector's own choice. */
  wire?: ErrorCode
  /** HTTP status of the upstream's answer. */
  statusCode?: number
  appErrorCode?: string
  raisedBy?: string
  raisedIn?: string
  /** Where in the connector's bundle it was thrown; for authors who have the bundle's source map. */
  at?: readonly Position[]
  /** Raw data tied to the error, where the caller asked for it. */
  raw?: Record<string, unknown>
  /** How long the upstream asked to be left alone, in milliseconds; it leaves in no answer. */
  retryAfterMs?: number
  /** The page that the call came with: the error envelope repeats it. */
  page?: { token: string | null; size: number | null }
}

/**
 * The one error class of the host. Callers switch on `code`; it becomes an answer in one place
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
