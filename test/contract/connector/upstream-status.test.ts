import { describe, expect, test } from 'vitest'
import {
  MAX_UPSTREAM_TEXT,
  upstreamCode,
  upstreamMessage,
} from '../../../runtime/contract/connector/upstream-status.ts'
import { ERROR_CODES } from '../../../runtime/contract/errors/error-codes.ts'

test.each([
  [400, 'bad_request'],
  [401, 'unauthenticated'],
  [402, 'api_error'],
  [403, 'permission_denied'],
  [404, 'not_found'],
  [405, 'unsupported_operation'],
  [406, 'unsupported_operation'],
  [408, 'request_timeout'],
  [409, 'api_error'],
  [410, 'not_found'],
  [413, 'bad_request'],
  [415, 'bad_request'],
  [418, 'api_error'],
  [422, 'bad_request'],
  [429, 'rate_limit'],
  [500, 'api_error'],
  [501, 'unsupported_operation'],
  [502, 'bad_gateway'],
  [503, 'service_error'],
  [504, 'bad_gateway'],
  [599, 'api_error'],
  [302, 'api_error'],
])('status %i means %s', (status, code) => {
  expect(upstreamCode(status)).toBe(code)
  expect(ERROR_CODES).toContain(code)
})

describe('the message of a failing answer', () => {
  const url = 'https://acme.example/v1/users'
  const cases: [string, string, string, string][] = [
    ['names status and address', url, 'No such user', `[404][${url}] No such user`],
    ['has no query', `${url}?token=secret&x=1`, '', `[404][${url}]`],
    ['has no fragment', `${url}#token=secret`, '', `[404][${url}]`],
    ['has no multi-line query', `${url}?a\nsecret`, '', `[404][${url}]`],
    ['is one line', url, ' a\r\n\t b ', `[404][${url}] a b`],
    ['drops markup', url, '<p class="x">No <b>such</b> user</p>', `[404][${url}] No such user`],
    [
      'drops elements without visible text',
      url,
      '<html><head><title>T</title></head><style>p{}</style><script>evil()</script>Text<!-- c -->',
      `[404][${url}] Text`,
    ],
    ['keeps JSON', url, '{"error":"a < b and c > d"}', `[404][${url}] {"error":"a < b and c > d"}`],
  ]
  test.each(cases)('%s', (_name, address, body, message) => {
    expect(upstreamMessage(404, address, body)).toBe(message)
  })

  test('is truncated', () => {
    expect(upstreamMessage(500, url, 'x'.repeat(5000))).toBe(
      `[500][${url}] ${'x'.repeat(MAX_UPSTREAM_TEXT)}`,
    )
  })

  test.each(['<'.repeat(1e6), '<script'.repeat(1e5), `<a ${'"'.repeat(1e6)}`, ' '.repeat(1e6)])(
    'is bounded for a hostile body (%#)',
    (body) => {
      const message = upstreamMessage(500, url, body)
      expect(message.length).toBeLessThan(MAX_UPSTREAM_TEXT + 100)
    },
  )
})

test('scripts without an end remove none of the text', () => {
  const begun = '<head><script '.repeat(30)
  expect(upstreamMessage(500, 'https://a.example', `${begun}> it failed`)).toContain('it failed')
  const page = '<HEAD>no</head>one<style>no</style> two <script>no</SCRIPT><b>three</b>'
  expect(upstreamMessage(500, 'https://a.example', page)).toBe(
    '[500][https://a.example] one two three',
  )
})
