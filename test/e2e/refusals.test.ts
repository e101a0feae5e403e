/** Sends bad requests. Each gets its answer, and the next good request succeeds. */
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixture, greeter } from '../fixtures/folders.ts'
import { startHost, type TestHost, type WireError } from './host.ts'
import { AT, credentials, envelope, expectFine, json, post, settings } from './several.ts'
import { until } from './until.ts'

let host: TestHost

beforeAll(async () => {
  host = await startHost({
    connectors: { several: fixture('several'), greeter: greeter('greeter', 'hello') },
  })
})
afterAll(async () => {
  await host?.stop()
})

type Refusal = [what: string, sent: () => ReturnType<TestHost['send']>, expected: Expected]
type Expected = Partial<WireError> & { status?: number; says?: string | RegExp }

/** Sends the envelope with changed members. */
const withOther = (other: object, at = AT) =>
  post(host, at, JSON.stringify({ ...envelope, ...other }))
const BIG = 10 * 1024 * 1024

describe('a bad request', () => {
  const bad = (says: Expected['says']): Expected => ({ error_code: 'bad_request', says: says! })
  const tokenOf = (...ids: string[]) => ids.map((id) => ({ id, token: { token: 'a-long-token' } }))

  const rows: Refusal[] = [
    ['plain text as the body', () => post(host, AT, 'hello'), bad('not JSON')],
    ['an empty body', () => post(host, AT, ''), bad('not JSON')],
    ['truncated JSON', () => post(host, AT, '{"request":{'), bad('not JSON')],
    ['invalid UTF-8', () => post(host, AT, Buffer.from([0x22, 0xff, 0xfe, 0x22])), bad('UTF-8')],
    [
      '10,000 levels of nesting',
      () => post(host, AT, '['.repeat(10_000) + ']'.repeat(10_000)),
      bad('64 levels'),
    ],
    [
      '500,000 levels of nesting',
      () => post(host, AT, '['.repeat(500_000) + ']'.repeat(500_000)),
      bad('64 levels'),
    ],
    [
      'nesting in the request',
      () => post(host, AT, `{"request":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}}`),
      bad('64 levels'),
    ],
    [
      'a list as the body',
      () => post(host, AT, '[]'),
      bad(/^write an object \(found an array\); request/),
    ],
    ['no request', () => withOther({ request: undefined }), bad('request')],
    ['a request that is null', () => withOther({ request: null }), bad('request')],
    ['a request that is a list', () => withOther({ request: [] }), bad('request')],
    [
      'a request without a required member',
      () => withOther({ request: {} }),
      bad('request.account_id: missing'),
    ],
    [
      'a number for a string',
      () => withOther({ request: { account_id: 1 } }),
      bad('request.account_id'),
    ],
    ['a string for a number', () => withOther({ page: { size: '5' } }), bad('page.size')],
    ['a fractional size', () => withOther({ page: { size: 1.5 } }), bad('page.size')],
    ['a size of 0', () => withOther({ page: { size: 0 } }), bad('1 to 1000')],
    ['a size of 1001', () => withOther({ page: { size: 1001 } }), bad('1 to 1000')],
    [
      'a string for a boolean',
      () => withOther({ include_raw_data: 'true' }),
      bad('include_raw_data'),
    ],
    [
      'two mistakes',
      () => withOther({ page: { size: '5' }, request: {} }),
      bad(/page\.size.*request\.account_id/),
    ],

    ['no credentials', () => withOther({ credentials: undefined }), bad('credentials: missing')],
    ['empty credentials', () => withOther({ credentials: [] }), bad('credentials: missing')],
    ['auth and credentials', () => withOther({ auth: { token: { token: 'x' } } }), bad('both')],
    [
      'auth in place of credentials',
      () => withOther({ auth: { token: { token: 'x' } }, credentials: null }),
      bad('several credentials'),
    ],
    [
      'credentials in place of auth',
      () => withOther({}, '/connectors/greeter/list_accounts'),
      bad('auth.token'),
    ],
    [
      'no auth',
      () => post(host, '/connectors/greeter/list_accounts', '{"request":{}}'),
      bad('auth: missing'),
    ],
    [
      'a credential of the wrong kind',
      () =>
        post(
          host,
          '/connectors/greeter/list_accounts',
          '{"request":{},"auth":{"basic":{"username":"u","password":"p"}}}',
        ),
      bad('auth.token: missing'),
    ],
    [
      'one of several credentials of the wrong kind',
      () => withOther({ credentials: [{ id: 'api', basic: { username: 'u', password: 'p' } }] }),
      bad('credentials[0].token'),
    ],
    [
      'a credential without its id',
      () => withOther({ credentials: [{ token: { token: 'x' } }] }),
      bad('credentials[0].id'),
    ],
    [
      'an undeclared credential',
      () => withOther({ credentials: tokenOf('api', 'other') }),
      bad('"other" is not declared'),
    ],
    [
      'a duplicate credential',
      () => withOther({ credentials: tokenOf('api', 'api') }),
      bad('twice'),
    ],
    [
      'only the optional credential',
      () => withOther({ credentials: [{ id: 'admin', basic: { username: 'u', password: 'p' } }] }),
      bad('missing api'),
    ],
    [
      'a number as a secret',
      () => withOther({ credentials: [{ id: 'api', token: { token: 5 } }] }),
      bad('credentials[0].token.token'),
    ],

    ['no settings', () => withOther({ settings: undefined }), bad(/settings\.host.*Host name/)],
    [
      'settings of the wrong type',
      () => withOther({ settings: { ...settings, rows: '5' } }),
      bad('settings.rows'),
    ],
    [
      'a setting out of bounds',
      () => withOther({ settings: { ...settings, rows: 51 } }),
      bad('settings.rows'),
    ],
    [
      'a setting outside its enum',
      () => withOther({ settings: { ...settings, region: 'mars' } }),
      bad('settings.region'),
    ],
    ...[
      'a.example:8080',
      'a.example/x',
      'u@a.example',
      'a.example#',
      'a..example',
      '-a.example',
      '',
      'a.example\n',
    ].map(
      (name): Refusal => [
        `the host name ${JSON.stringify(name)}`,
        () => withOther({ settings: { host: name } }),
        bad('settings.host'),
      ],
    ),
    ...[
      'https://a.example@evil.example',
      'https://user:password@a.example',
      'https://a.example#@evil.example',
      'https://a.example\n.evil.example',
      'https://a.example?x=1',
      'https:\\\\a.example',
      'ftp://a.example',
      'javascript:alert(1)',
      'a.example',
      'https://',
    ].map(
      (address): Refusal => [
        `the base address ${JSON.stringify(address)}`,
        () => withOther({ settings: { ...settings, base_url: address } }),
        bad('settings.base_url'),
      ],
    ),

    [
      '__proto__ in extra data',
      () =>
        post(
          host,
          '/connectors/several-parts/create_account',
          `{"credentials":${JSON.stringify(credentials)},"settings":{"host":"a.example"},"request":{"entitlements":[],"extra_data":{"deep":{"__proto__":{}}}}}`,
        ),
      bad('__proto__'),
    ],

    [
      'an unknown connector',
      () => withOther({}, '/connectors/nobody/list_accounts'),
      { error_code: 'not_found', app_id: 'nobody' },
    ],
    [
      'a long id',
      () => withOther({}, `/connectors/${'x'.repeat(200)}/info`),
      { error_code: 'not_found', app_id: 'x'.repeat(64) },
    ],
    [
      'an invalid id',
      () => withOther({}, '/connectors/..%2f..%2fetc/list_accounts'),
      { error_code: 'not_found' },
    ],
    [
      'an id that cannot be decoded',
      () => withOther({}, '/connectors/%E0%A4%A/list_accounts'),
      { error_code: 'not_found' },
    ],
    [
      'an id that every object has as a member',
      () => withOther({}, '/connectors/constructor/list_accounts'),
      { error_code: 'not_found' },
    ],
    [
      'an unknown capability',
      () => withOther({}, '/connectors/several-parts/do_magic'),
      { error_code: 'not_implemented', app_id: 'several-parts' },
    ],
    [
      'a capability that every object has as a member',
      () => withOther({}, '/connectors/several-parts/constructor'),
      { error_code: 'not_implemented' },
    ],
    [
      'a capability that the connector lacks',
      () => withOther({}, '/connectors/several-parts/list_entitlements'),
      { error_code: 'not_implemented' },
    ],
    [
      'an OAuth capability without OAuth',
      () => withOther({}, '/connectors/several-parts/get_authorization_url'),
      { error_code: 'not_implemented' },
    ],

    [
      'form data',
      () => post(host, AT, 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }),
      { status: 415, error_code: 'bad_request' },
    ],
    [
      'text/plain',
      () => post(host, AT, '{}', { 'content-type': 'text/plain;application/json' }),
      { status: 415, error_code: 'bad_request' },
    ],
    [
      'a media type similar to JSON',
      () => post(host, AT, '{}', { 'content-type': 'application/json-seq' }),
      { status: 415, error_code: 'bad_request' },
    ],
    ['no content type', () => post(host, AT, '{}', {}), { status: 415, error_code: 'bad_request' }],
    [
      '10 MB',
      () => post(host, AT, Buffer.alloc(BIG, 32)),
      { status: 413, error_code: 'bad_request' },
    ],
    [
      '10 MB in chunks',
      () =>
        post(
          host,
          AT,
          Array.from({ length: 160 }, () => Buffer.alloc(BIG / 160, 32)),
        ),
      { status: 413, error_code: 'bad_request' },
    ],
    [
      '10 MB for app_info',
      () => post(host, '/connectors/several-parts/app_info', Buffer.alloc(BIG, 32)),
      { status: 413, error_code: 'bad_request' },
    ],
    [
      'too many values in 300 kB',
      () => post(host, AT, `{"request":[${Array(100_000).fill('{}').join()}]}`),
      { status: 413, error_code: 'bad_request', says: 'more than 32768 values' },
    ],
    [
      'a path below a capability',
      () => post(host, `${AT}/more`, '{}'),
      { status: 404, error_code: 'not_found' },
    ],
    ...['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'].map(
      (method): Refusal => [
        `${method} for a capability`,
        () => host.send(AT, { method }),
        { status: 405, error_code: 'unsupported_operation' },
      ],
    ),
    ...['evil.example', 'evil.example:80', 'localhost.evil.example', '127.0.0.1.evil.example'].map(
      (name): Refusal => [
        `the Host ${name}`,
        () => host.send('/healthz', { headers: { host: name } }),
        { status: 421, error_code: 'bad_request' },
      ],
    ),
  ]

  test.each(rows)(
    'is refused and has no effect: %s',
    async (_what, sent, { status = 200, says = /./, ...expected }) => {
      const received = await sent()
      expect(received.status).toBe(status)
      const { error, is_error } = JSON.parse(received.text)
      expect(is_error).toBe(true)
      expect(error).toMatchObject(expected)
      expect(error.message).toMatch(says)
      await expectFine(host)
    },
  )

  test("that stops in the middle of the body is logged as the caller's", async () => {
    const { port } = new URL(host.url)
    const lines = host.lines.length
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(
      `POST ${AT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"req`,
    )
    await new Promise((resolve) => setTimeout(resolve, 100))
    socket.destroy()
    const line = await until('the refusal is in the log', () =>
      host.lines.slice(lines).find((one) => one.includes(AT)),
    )
    expect(JSON.parse(line)).toMatchObject({ code: 'caller_gone', level: 30 })
    await expectFine(host)
  })

  test('with a wrong method lists the allowed ones', async () => {
    expect((await host.send(AT, { method: 'GET' })).headers['allow']).toBe('POST')
  })

  test('from another origin gets no CORS headers', async () => {
    const headers = { ...json, origin: 'https://evil.example' }
    const received = await post(host, AT, JSON.stringify(envelope), headers)
    expect(
      Object.keys(received.headers).filter((name) => name.startsWith('access-control')),
    ).toEqual([])
  })
})
