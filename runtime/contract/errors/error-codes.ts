/** The closed list of error codes that callers see (service.md section 7.1). No other code is ever sent. */

import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'

/** The 25 codes of service.md section 7.1, and when a connector throws each of them. */
export const CODES = {
  not_found: 'The record that the request names does not exist.',
  internal_error: 'The runtime failed; not for connectors.',
  api_error: 'The system failed in a way that no other code describes.',
  unauthorized: 'The caller may not use the system at all; prefer `unauthenticated`.',
  bad_request:
    'The request asks for something impossible, such as two roles if only one is allowed.',
  permission_denied: 'The credentials work, but do not permit this.',
  not_implemented: 'The capability exists, but does not support this case.',
  unexpected_error: 'Never thrown: any error that is not a ConnectorError becomes this one.',
  unsupported_operation: 'The system has no such operation, for this record or at all.',
  unknown_value: 'The system returned an enumeration value that the connector does not know.',
  invalid_value: 'The request contains a value that the system does not accept.',
  bad_gateway: 'A component between the runtime and the system failed: 502 or 504.',
  unauthenticated: 'The credentials do not work.',
  request_timeout: 'The system took too long to answer.',
  connection_timeout: 'Connecting took too long; raised by the runtime itself.',
  connection_rejected: 'The system cannot be reached; raised by the runtime itself.',
  rate_limit: 'The system asks for fewer requests.',
  authentication_expired: 'The credentials were good and have expired: a refresh may help.',
  service_error: 'The system is down or overloaded: the call may be repeated later.',
  invalid_response: 'The connector cannot read the response of the system.',
  client_call_error: 'The connector made a call that the system’s own library rejects.',
  connection_closed:
    'The connection closed before the response was complete; raised by the runtime itself.',
  creds_revoked: 'The credentials were revoked: connect again.',
  invalid_page_token: 'The cursor is no longer valid: the listing must start again.',
  integration_missing_parameter: 'A parameter or setting is missing that this request needs.',
} as const

/** The names of the codes. */
export const ERROR_CODES = keysOf(CODES)

export const ErrorCode = v.pipe(
  v.picklist(ERROR_CODES),
  v.metadata({ title: 'ErrorCode', description: 'Standard error code' }),
)
/** An error code on the wire; also the argument of a ConnectorError. */
export type ErrorCode = v.InferOutput<typeof ErrorCode>
