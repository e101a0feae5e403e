/**
 * Descriptions of all fields of connector.cases.json, by path: the fields of a case, then those of the file.
 * Arrays do not appear in a path. A page has the fields of a case with one page. Editors show these texts
 * through the JSON Schema, and the generated reference contains them.
 */
export const CASE_FIELDS = {
  name: 'The behaviour that the case tests; `keyway check` prints it when the case fails',
  capability: 'The called capability',
  request: 'The `request` of the call, as callers send it',
  auth: 'The credential, as callers send it: `{ "token": { "token": "t-1" } }`',
  credentials: 'Several credentials, by their ids in connector.json',
  settings: 'The tenant’s settings',
  page: 'The requested page',
  'page.size': 'The requested page size',
  include_raw_data: 'Whether the call requests `raw_data`',
  upstream:
    'The exchanges with the system, each written here or named from `exchanges`. Each answers one request. An unused exchange fails the case, and so does a request without an exchange',
  'upstream.request':
    'Method, path and query: `GET /v1/users?limit=2`. The path begins at the origin and is encoded as it is sent; the order of the query does not matter',
  'upstream.headers': 'Required request headers, by name; the request may have others',
  'upstream.body': 'The required body: JSON, compared by value, or text. Not checked when absent',
  'upstream.reply': 'The answer of the system',
  'upstream.reply.status': 'The HTTP status; required unless the defaults have one',
  'upstream.reply.headers':
    'Headers of the answer; `content-type` defaults to application/json if the body is JSON',
  'upstream.reply.body': 'The body: JSON or text',
  response:
    'The complete expected response, compared exactly; null members count as absent. Not checked when absent',
  error: 'The error that is expected instead',
  'error.error_code': 'The error code',
  'error.status_code': 'The HTTP status of the system’s answer; not checked when absent',
  'error.app_error_code': 'The system’s own code; not checked when absent',
  'error.raised_by': 'The component that raised the error; not checked when absent',
  'error.message': 'A part of the message; not checked when absent',
  more: 'Whether another page follows; not checked when absent',
  raw_data: 'The complete expected `raw_data`; requires include_raw_data. Not checked when absent',
  pages:
    'Several pages of one listing. Each page has its own upstream, response, error, more and raw_data, which the case then omits',
  cases: 'The cases, if the file is an object. A file may also be just a list of cases',
  exchanges:
    'Exchanges shared by several cases, by name: `"upstream": ["login", { "request": ... }]`',
  defaults:
    'Values for members that a case omits. A member of a case replaces the whole default; null removes it',
  'defaults.auth': 'The credential of a case that has neither `auth` nor `credentials`',
  'defaults.credentials': 'Several credentials of such a case, by their ids in connector.json',
  'defaults.settings': 'The tenant’s settings',
  'defaults.page': 'The requested page',
  'defaults.page.size': 'The requested page size',
  'defaults.include_raw_data': 'Whether calls request `raw_data`',
  'defaults.upstream': 'Values for members that an exchange omits',
  'defaults.upstream.headers': 'Required request headers; `{}` in an exchange requires none',
  'defaults.upstream.reply': 'Values for members that an answer omits',
  'defaults.upstream.reply.status': 'The HTTP status',
  'defaults.upstream.reply.headers': 'Headers of the answer',
} as const satisfies Record<string, string>
