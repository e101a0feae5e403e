/** The closed list of codes that callers see (service.md section 7.1): nothing else ever leaves. */

import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'

/** The 25 codes of service.md section 7.1, and when a connector throws each. */
export const CODES = {
  not_found: 'The record that the request names is not there.',
  internal_error: 'The runtime failed; not for connectors.',
  api_error: 'The system failed in a way that no other code names.',
  unauthorized: 'The system says that the caller may not use it at all; prefer `unauthenticated`.',
  bad_request:
    'The request asks for something that cannot be, such as two roles where one is allowed.',
  permission_denied: 'The credentials work, but may not do this.',
  not_implemented: 'The capability is there, but not for this case.',
  unexpected_error: 'Never thrown: what everything becomes that is not a ConnectorError.',
  unsupported_operation: 'The system has no such operation, for this record or at all.',
  unknown_value: 'The system answered with a value of a list that the connector does not know.',
  invalid_value: 'The request holds a value that the system does not take.',
  bad_gateway: 'Something between here and the system failed: 502 or 504.',
  unauthenticated: 'The credentials do not work.',
  request_timeout: 'The system took too long to answer.',
  connection_timeout: 'Connecting took too long; the runtime says so itself.',
  connection_rejected: 'The system cannot be reached; the runtime says so itself.',
  rate_limit: 'The system asks for fewer requests.',
  authentication_expired: 'The credentials were good and have expired: a refresh may help.',
  service_error: 'The system is down or overloaded: the call may be repeated later.',
  invalid_response: 'The system answered with something that the connector cannot read.',
  client_call_error: 'The connector made a call that the system’s own library refuses.',
  connection_closed: 'The connection ended before the answer did; the runtime says so itself.',
  creds_revoked: 'The credentials were revoked: connect again.',
  invalid_page_token: 'The cursor leads nowhere any more: the listing must begin again.',
  integration_missing_parameter: 'A parameter or setting is missing that this request needs.',
} as const

/** The codes alone. */
export const ERROR_CODES = keysOf(CODES)

export const ErrorCode = v.pipe(
  v.picklist(ERROR_CODES),
  v.metadata({ title: 'ErrorCode', description: 'Standard error code' }),
)
/** One of the wire’s codes; what a ConnectorError takes. */
export type ErrorCode = v.InferOutput<typeof ErrorCode>
