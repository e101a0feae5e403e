/**
 * Consequences of a failed call to a connected system. Requests, offboardings and syncs read this one table,
 * so that they agree on what is retried and what people are asked about.
 */
import type { ErrorCode } from '../../contract/errors/error-codes.ts'

/**
 * Scope of a failure:
 * - `system`: every other call to the app would fail too; the app is paused as a whole;
 * - `call`: this call failed and the next one may succeed;
 * - `refused`: the system understood the call and refused it; a person has to look, and retries continue,
 *   slowly.
 */
type FaultReach = 'system' | 'call' | 'refused'

type FaultRow = {
  reach: FaultReach
  /** True if the system certainly did nothing, so that a write may be sent again without checking. */
  undone: boolean
  /** True if the credentials are at fault: a person has to connect the app again. */
  credentials?: true
}

const system = { reach: 'system', undone: false } as const
const call = { reach: 'call', undone: false } as const
const refused = { reach: 'refused', undone: true } as const
const credentials = { reach: 'system', undone: true, credentials: true } as const

/** Error code on the wire (service.md section 7.1) -> consequences of the failure. */
export const FAULTS = {
  connection_rejected: { ...system, undone: true },
  rate_limit: { ...system, undone: true },
  connection_timeout: system,
  connection_closed: system,
  request_timeout: system,
  service_error: system,
  bad_gateway: system,
  unauthenticated: credentials,
  authentication_expired: credentials,
  creds_revoked: credentials,
  unauthorized: credentials,
  api_error: call,
  internal_error: call,
  unexpected_error: call,
  invalid_response: call,
  invalid_page_token: call,
  client_call_error: refused,
  not_found: refused,
  bad_request: refused,
  permission_denied: refused,
  not_implemented: refused,
  unsupported_operation: refused,
  unknown_value: refused,
  invalid_value: refused,
  integration_missing_parameter: refused,
} as const satisfies Record<ErrorCode, FaultRow>

/** Returns the row of an error code. */
export const faultOf = (code: ErrorCode): FaultRow => FAULTS[code]
