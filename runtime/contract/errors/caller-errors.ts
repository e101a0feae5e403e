/** Errors caused by a caller's request. */
import { caller, rows } from './error-row.ts'

export const CALLER_ERRORS = rows({
  body_not_json: caller('bad_request', 'The body is not JSON'),
  body_too_deep: caller('bad_request', 'The body is nested deeper than 64 levels'),
  request_invalid: caller('bad_request', 'The envelope or the request does not fit its schema'),
  credentials_invalid: caller(
    'bad_request',
    'auth or credentials are missing, duplicated, of the wrong kind or undeclared',
  ),
  settings_invalid: caller('bad_request', 'Settings are missing or do not fit the manifest'),
  page_size_invalid: caller('bad_request', 'The page size is outside 1 to 1000'),
  page_token_invalid: caller(
    'invalid_page_token',
    'The page token is edited, foreign, expired, or belongs to another request',
  ),
  connector_unknown: caller('not_found', 'No such connector is served'),
  capability_unknown: caller('not_implemented', 'No such capability exists'),
  capability_missing: caller('not_implemented', 'The connector does not implement this capability'),
  record_unknown: caller('not_found', 'There is no such record; only below /operator', 'not_found'),
  method_wrong: caller(
    'unsupported_operation',
    'The path does not support this method',
    'method_not_allowed',
  ),
  path_unknown: caller('not_found', 'Nothing is served at this path', 'not_found'),
  host_repeated: caller('bad_request', 'The request has more than one Host header', 'bad_request'),
  path_not_canonical: caller(
    'bad_request',
    'The path is not in canonical form: it has dots, doubled slashes or needless escapes',
    'bad_request',
  ),
  body_too_large: caller(
    'bad_request',
    'The body is larger than allowed for this path',
    'too_large',
  ),
  content_type_wrong: caller(
    'bad_request',
    'The content type is not accepted at this path',
    'unsupported_media_type',
  ),
  host_wrong: caller('bad_request', 'The Host header names another server', 'misdirected'),
  token_missing: caller(
    'unauthenticated',
    'The bearer token is missing or wrong',
    'unauthenticated',
  ),
  token_forbidden: caller(
    'permission_denied',
    'The token’s user may not do this, or the token may only read',
    'forbidden',
  ),
  state_conflict: caller('bad_request', 'The state of the record does not allow it', 'conflict'),
  input_invalid: caller('bad_request', 'The input has errors; nothing was stored', 'invalid'),
  caller_gone: caller('client_call_error', 'The caller hung up before the response'),
})
