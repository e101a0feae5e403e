/** REFUSAL_STATUS: kind of refusal -> HTTP status. This is the only such table. */
import { ERRORS, type RuntimeCode } from '../../contract/errors/errors.ts'
import type { CoreError, RefusalKind } from '../../contract/errors/problem.ts'

export const REFUSAL_STATUS = {
  bad_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  precondition_failed: 412,
  too_large: 413,
  unsupported_media_type: 415,
  misdirected: 421,
  invalid: 422,
  too_many_requests: 429,
  internal: 500,
  not_implemented: 501,
  upstream_failed: 502,
  unavailable: 503,
} as const satisfies Record<RefusalKind, number>

export type RefusalStatus = (typeof REFUSAL_STATUS)[RefusalKind]

/** Returns the status of a refusal. */
export const statusOfRefusal = ({ kind }: { kind: RefusalKind }): RefusalStatus =>
  REFUSAL_STATUS[kind]

/** Returns the status of an error of ERRORS; 200 if it is returned in the envelope. */
export function envelopeStatus(code: RuntimeCode): RefusalStatus | 200 {
  const { refusal } = ERRORS[code]
  return refusal === undefined ? 200 : REFUSAL_STATUS[refusal]
}

/** Returns the headers of a refusal. */
export const refusalHeaders = ({ retryAfterSeconds }: CoreError): Record<string, string> =>
  retryAfterSeconds === null ? {} : { 'retry-after': String(retryAfterSeconds) }
