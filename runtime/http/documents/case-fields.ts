/**
 * Meaning of every field of connector.cases.json, by its path in a case, and of the fields next to the cases.
 * Arrays add nothing to a path. A page has the fields of a case with one page. Editors show these texts
 * through the JSON Schema; the generated reference contains them.
 */
export const CASE_FIELDS = {
  name: 'What the case shows; `keyway check` prints it when the case fails',
  capability: 'The capability that is called',
  request: 'Its `request`, as callers send it',
  auth: 'The credential, as callers send it: `{ "token": { "token": "t-1" } }`',
  credentials: 'Several credentials, by their id in connector.json',
  settings: 'The tenant’s settings',
  page: 'How the call asks for its page',
  'page.size': 'The page size that is asked for',
  include_raw_data: 'Whether `raw_data` is asked for',
  upstream:
    'What the system is asked and answers, each an exchange or the name of one in `exchanges`. Each is used once; one that is not used, and a request that is none of them, fail the case',
  'upstream.request':
    'Method, path and query: `GET /v1/users?limit=2`. The path begins at the origin and is encoded as it is sent; the query may be in any order',
  'upstream.headers': 'Request headers that must be sent, by name; further ones may be',
  'upstream.body': 'The body that must be sent: JSON compared by value, or a text',
  'upstream.reply': 'What the system answers',
  'upstream.reply.status': 'The HTTP status; needed unless the defaults have one',
  'upstream.reply.headers':
    'Headers of the answer; `content-type` is application/json for a body that is no text',
  'upstream.reply.body': 'The body: JSON, or a text',
  response:
    'What comes out, whole, to the letter but for members that are null; not checked when absent',
  error: 'The error that comes out instead',
  'error.error_code': 'One of the codes',
  'error.status_code': 'The HTTP status of the system’s answer; not checked when absent',
  'error.app_error_code': 'The system’s own code; not checked when absent',
  'error.raised_by': 'Who raised it; not checked when absent',
  'error.message': 'A part of the message',
  more: 'Whether there is a further page; not checked when absent',
  raw_data: 'What `raw_data` holds, whole; needs include_raw_data; not checked when absent',
  pages:
    'Several pages of one listing, in place of upstream, response, error, more and raw_data, which each page has of its own',
  cases: 'The cases, where the file is an object; a file may also be a list of cases alone',
  exchanges:
    'Exchanges that several cases have, by name: `"upstream": ["login", { "request": ... }]`',
  defaults:
    'What cases have that say nothing themselves. What a case says stands in place of the default, whole; null is none',
  'defaults.auth': 'The credential of a case that has neither `auth` nor `credentials`',
  'defaults.credentials': 'Several credentials, likewise',
  'defaults.settings': 'The tenant’s settings',
  'defaults.page': 'How calls ask for their page',
  'defaults.page.size': 'The page size that is asked for',
  'defaults.include_raw_data': 'Whether `raw_data` is asked for',
  'defaults.upstream': 'What exchanges have that say nothing themselves',
  'defaults.upstream.headers':
    'Request headers that must be sent; `{}` in an exchange asks for none',
  'defaults.upstream.reply': 'What the system’s answers have in common',
  'defaults.upstream.reply.status': 'The HTTP status',
  'defaults.upstream.reply.headers': 'Headers of the answer',
} as const satisfies Record<string, string>
