/**
 * What a failed call of a connected system means for the work that made it. Requests, offboardings and
 * syncs read this one table, so that they agree on what is tried again and what people are asked about.
 */
import type { ErrorCode } from '../../contract/errors/error-codes.ts'

/**
 * How far a failure reaches:
 * - `system`: every other call to the app would fail too; the app waits as a whole;
 * - `call`: this call failed and the next one may succeed;
 * - `refused`: the system understood and said no; a person has to look, and it is still tried again, slowly.
 */
type FaultReach = 'system' | 'call' | 'refused'

type FaultRow = {
  reach: FaultReach
  /** True where the system certainly did nothing, so that a write may be sent again without a look. */
  undone: boolean
  /** True where the credentials are at fault: a person has to connect the app again. */
  credentials?: true
}

const system = { reach: 'system', undone: false } as const
const call = { reach: 'call', undone: false } as const
const refused = { reach: 'refused', undone: true } as const
const credentials = { reach: 'system', undone: true, credentials: true } as const

/** FAULTS: wire code (service.md section 7.1) -> what its failure means. */
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

/** The row of a code. */
export const faultOf = (code: ErrorCode): FaultRow => FAULTS[code]
