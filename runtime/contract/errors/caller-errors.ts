/** Errors caused by a caller's request. */
import { rows } from './error-row.ts'

const caller = { raisedBy: null, blame: 'caller', retryable: false } as const

export const CALLER_ERRORS = rows({
  body_not_json: { ...caller, wire: 'bad_request', meaning: 'The body is not JSON' },
  body_too_deep: {
    ...caller,
    wire: 'bad_request',
    meaning: 'The body is nested deeper than 64 levels',
  },
  request_invalid: {
    ...caller,
    wire: 'bad_request',
    meaning: 'The envelope or the request does not fit its schema',
  },
  credentials_invalid: {
    ...caller,
    wire: 'bad_request',
    meaning: 'auth or credentials are missing, duplicated, of the wrong kind or undeclared',
  },
  settings_invalid: {
    ...caller,
    wire: 'bad_request',
    meaning: 'Settings are missing or do not fit the manifest',
  },
  page_size_invalid: {
    ...caller,
    wire: 'bad_request',
    meaning: 'The page size is outside 1 to 1000',
  },
  page_token_invalid: {
    ...caller,
    wire: 'invalid_page_token',
    meaning: 'The page token is edited, foreign, expired, or belongs to another request',
  },
  connector_unknown: { ...caller, wire: 'not_found', meaning: 'No such connector is served' },
  capability_unknown: { ...caller, wire: 'not_implemented', meaning: 'No such capability exists' },
  capability_missing: {
    ...caller,
    wire: 'not_implemented',
    meaning: 'The connector does not implement this capability',
  },
  record_unknown: {
    ...caller,
    wire: 'not_found',
    refusal: 'not_found',
    meaning: 'There is no such record; only below /operator',
  },
  method_wrong: {
    ...caller,
    wire: 'unsupported_operation',
    refusal: 'method_not_allowed',
    meaning: 'The path does not support this method',
  },
  path_unknown: {
    ...caller,
    wire: 'not_found',
    refusal: 'not_found',
    meaning: 'Nothing is served at this path',
  },
  host_repeated: {
    ...caller,
    wire: 'bad_request',
    refusal: 'bad_request',
    meaning: 'The request has more than one Host header',
  },
  path_not_canonical: {
    ...caller,
    wire: 'bad_request',
    refusal: 'bad_request',
    meaning: 'The path is not in canonical form: it has dots, doubled slashes or needless escapes',
  },
  body_too_large: {
    ...caller,
    wire: 'bad_request',
    refusal: 'too_large',
    meaning: 'The body is larger than allowed for this path',
  },
  content_type_wrong: {
    ...caller,
    wire: 'bad_request',
    refusal: 'unsupported_media_type',
    meaning: 'The content type is not accepted at this path',
  },
  host_wrong: {
    ...caller,
    wire: 'bad_request',
    refusal: 'misdirected',
    meaning: 'The Host header names another server',
  },
  token_missing: {
    ...caller,
    wire: 'unauthenticated',
    refusal: 'unauthenticated',
    meaning: 'The bearer token is missing or wrong',
  },
  token_forbidden: {
    ...caller,
    wire: 'permission_denied',
    refusal: 'forbidden',
    meaning: 'The token’s user may not do this, or the token may only read',
  },
  state_conflict: {
    ...caller,
    wire: 'bad_request',
    refusal: 'conflict',
    meaning: 'The state of the record does not allow it',
  },
  input_invalid: {
    ...caller,
    wire: 'bad_request',
    refusal: 'invalid',
    meaning: 'The input has errors; nothing was stored',
  },
  caller_gone: {
    ...caller,
    wire: 'client_call_error',
    meaning: 'The caller hung up before the response',
  },
})
