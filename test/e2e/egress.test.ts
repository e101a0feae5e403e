/** Tests what a connector can reach through the host, what is refused, and how failures are reported. */
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTcp, startUpstream, stopAll } from '../egress/fixtures/upstream.ts'
import { fixture } from '../fixtures/folders.ts'
import { bestMs } from '../kit/best-ms.ts'
import { type Answer, failure, startHost, success, type TestHost } from './host.ts'
import {
  type Probe,
  readThrough,
  refusal,
  type Settings,
  seenBy,
  TOKEN,
  writeThrough,
} from './probe.ts'

let host: TestHost
/** An upstream that is granted and declared, as `settings.base_url`. */
let granted: Awaited<ReturnType<typeof startUpstream>>
/** An upstream that is not granted. */
let forbidden: Awaited<ReturnType<typeof startUpstream>>
let refusing: number
let breaking: number
let silent: number

const read = (probe: Probe, settings: Settings = { base_url: granted.origin }) =>
  readThrough(host, probe, settings)
const write = (probe: Probe) => writeThrough(host, probe, { base_url: granted.origin })

beforeAll(async () => {
  forbidden = await startUpstream((_request, response) => response.end('secret of this machine'))
  granted = await startUpstream((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
    const to = searchParams.get('to')
    if (to !== null) return response.writeHead(302, { location: to }).end()
    const status = Number(pathname.slice(1)) || 200
    response.writeHead(status, { 'content-type': 'application/json', 'set-cookie': 'a=b' })
    response.end(JSON.stringify({ code: 'their-code', message: `<b>status</b>  ${status}` }))
  })
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  refusing = (server.address() as { port: number }).port
  await new Promise((resolve) => server.close(resolve))
  breaking = await startTcp((socket) => {
    socket.on('data', () => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this')
      setTimeout(() => socket.destroy(), 20)
    })
  })
  silent = await startTcp((socket) => socket.resume())
  const ports = [new URL(granted.origin).port, refusing, breaking, silent]
  host = await startHost({
    env: { KEYWAY_PRIVATE_EGRESS: ports.map((port) => `probe=127.0.0.1:${port}`).join(' ') },
    connectors: { probe: fixture('probe') },
  })
})
afterAll(async () => {
  await host?.stop()
  await stopAll()
})

test('a declared and granted upstream can be reached, by the methods of the capability', async () => {
  const seen = seenBy(await read({ url: `${granted.origin}/things?x=1` }))
  expect(seen).toMatchObject({ status: 200, url: `${granted.origin}/things?x=1` })
  expect(seen.headers['set-cookie']).toBeUndefined()
  const written = await write({ url: granted.origin, method: 'POST', body: 'hello' })
  expect(JSON.parse(success<{ id: string }>(written.body).id)).toMatchObject({ status: 200 })
  expect(granted.seen.at(-1)).toMatchObject({ method: 'POST', body: 'hello' })
})

describe('egress policy', () => {
  type Row = [what: string, sent: () => Promise<Answer>, says: RegExp]
  const other = () => forbidden.origin
  const rows: Row[] = [
    [
      'the metadata service',
      () => read({ url: 'http://169.254.169.254/latest/meta-data/' }),
      /169\.254\.169\.254.*no egress entry covers it/,
    ],
    ['undeclared loopback', () => read({ url: other() }), /no egress entry covers it.* Declare/],
    [
      'another host of the internet',
      () => read({ url: 'https://evil.example/' }),
      /https:\/\/evil\.example.*no egress entry/,
    ],
    ['another port of the host', () => read({ url: 'http://127.0.0.1:1/' }), /no egress entry/],
    [
      'another scheme of the host',
      () => read({ url: granted.origin.replace('http:', 'https:') }),
      /no egress entry/,
    ],
    [
      'user info in a URL',
      () => read({ url: granted.origin.replace('//', '//user:pass@') }),
      /user info/,
    ],
    ['an invalid scheme', () => read({ url: 'file:///etc/passwd' }), /file: cannot be fetched/],
    ['a data: URL', () => read({ url: 'data:text/plain,hello' }), /data: cannot be fetched/],

    [
      'the metadata service, also when declared',
      () => read({ url: 'http://169.254.169.254/' }, { base_url: 'http://169.254.169.254' }),
      /169\.254\.169\.254:80 is .* KEYWAY_PRIVATE_EGRESS=probe=169\.254\.169\.254:80/,
    ],
    [
      'loopback, also when declared',
      () => read({ url: other() }, { base_url: other() }),
      /loopback.*KEYWAY_PRIVATE_EGRESS=probe=127\.0\.0\.1/,
    ],
    [
      'a private network',
      () => read({ url: 'http://10.0.0.1/' }, { base_url: 'http://10.0.0.1' }),
      /private.*KEYWAY_PRIVATE_EGRESS/,
    ],
    [
      'loopback in decimal',
      () => read({ url: 'http://2130706433/' }, { base_url: 'http://2130706433' }),
      /127\.0\.0\.1/,
    ],
    [
      'loopback in IPv6',
      () => read({ url: 'http://[::1]/' }, { base_url: 'http://[::1]' }),
      /\[::1\]:80/,
    ],
    [
      'loopback mapped into IPv6',
      () => read({ url: 'http://[::ffff:127.0.0.1]/' }, { base_url: 'http://[::ffff:7f00:1]' }),
      /KEYWAY_PRIVATE_EGRESS/,
    ],
    [
      'a name that resolves to loopback',
      () =>
        read(
          { url: other().replace('127.0.0.1', 'localhost') },
          { base_url: other().replace('127.0.0.1', 'localhost') },
        ),
      /localhost:\d+ is .*KEYWAY_PRIVATE_EGRESS=probe=localhost/,
    ],
    [
      'the granted port by another name',
      () =>
        read(
          { url: granted.origin.replace('127.0.0.1', 'localhost') },
          { base_url: granted.origin.replace('127.0.0.1', 'localhost') },
        ),
      /KEYWAY_PRIVATE_EGRESS/,
    ],

    [
      'a redirect to loopback',
      () => read({ url: `${granted.origin}/?to=${other()}` }),
      /no egress entry/,
    ],
    [
      'a redirect to declared loopback',
      () =>
        read(
          { url: `${granted.origin}/?to=${other()}` },
          { base_url: granted.origin, second_url: other() },
        ),
      /KEYWAY_PRIVATE_EGRESS/,
    ],
    [
      'a redirect to the metadata service',
      () => read({ url: `${granted.origin}/?to=http://169.254.169.254/` }),
      /169\.254\.169\.254.*no egress entry/,
    ],
    [
      'a redirect to an undeclared host',
      () => read({ url: `${granted.origin}/?to=https://evil.example/` }),
      /evil\.example.*no egress entry/,
    ],
    [
      'a redirect to a file',
      () => read({ url: `${granted.origin}/?to=file:///etc/passwd` }),
      /file:/,
    ],
    [
      'endless redirects',
      () =>
        read({
          url: `${granted.origin}/?to=%3Fto%3D%253Fto%253D%25253Fto%25253D%2525253Fto%2525253D%252525253Fto%252525253D%25252525253Fto%25252525253D%25252525252F`,
        }),
      /after 5 redirects/,
    ],
    [
      'a redirect that the request forbids',
      () => read({ url: `${granted.origin}/?to=/`, redirect: 'error' }),
      /redirects \(302\)/,
    ],

    ...['POST', 'PUT', 'PATCH', 'DELETE'].map(
      (method): Row => [
        `${method} from a read capability`,
        () => read({ url: granted.origin, method }),
        new RegExp(`${method} .* allows GET, HEAD\\. Add "${method}"`),
      ],
    ),
    ...[
      'host',
      'cookie',
      'connection',
      'content-length',
      'transfer-encoding',
      'proxy-authorization',
      'x-forwarded-for',
      'upgrade',
    ].map(
      (name): Row => [
        `the header ${name}`,
        () => read({ url: granted.origin, headers: { [name]: '1' } }),
        new RegExp(`"${name}" may not be set`),
      ],
    ),
    [
      'a path above the base address',
      () => read({ url: `${granted.origin}/api/../admin` }, { base_url: `${granted.origin}/api` }),
      /\/admin.*no egress entry/,
    ],
    [
      'an encoded .. segment',
      () =>
        read({ url: `${granted.origin}/api/..%2fadmin` }, { base_url: `${granted.origin}/api` }),
      /no egress entry/,
    ],
    [
      'a path with .. added in code',
      () =>
        read({ url: `${granted.origin}/admin` }, { base_url: `${granted.origin}/api/..%2fadmin` }),
      /settings\.base_url does not fit/,
    ],
  ]

  test.each(rows)('refuses %s, with the rule in the message', async (_what, sent, says) => {
    const before = forbidden.seen.length
    expect(refusal(await sent())).toMatch(says)
    expect(forbidden.seen).toHaveLength(before)
    expect(seenBy(await read({ url: granted.origin })).status).toBe(200)
  })

  test('lets a connector handle a redirect itself', async () => {
    expect(seenBy(await read({ url: `${granted.origin}/?to=/`, redirect: 'manual' })).status).toBe(
      302,
    )
  })
})

test.each([
  [400, 'bad_request'],
  [401, 'unauthenticated'],
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
])('an upstream’s %i is reported as %s', async (status, error_code) => {
  const url = `${granted.origin}/${status}`
  const error = failure(await read({ url: `${url}?secret=1`, strict: true }))
  expect(error).toEqual({
    error_code,
    status_code: status,
    app_error_code: 'their-code',
    raised_by: 'HTTPStatusError',
    raised_in: 'probe:get_account',
    app_id: 'probe',
    message: `[${status}][${url}] {"code":"their-code","message":" status ${status}"}`,
  })
})

describe('a network failure', () => {
  const at = (port: number) => `http://127.0.0.1:${port}`
  const failing = (port: number) => read({ url: at(port) }, { base_url: at(port) }).then(failure)

  test('is reported for a refused connection', async () => {
    expect(await failing(refusing)).toMatchObject({
      error_code: 'connection_rejected',
      raised_by: 'Keyway.Egress',
      message: expect.stringContaining('refused'),
    })
  })

  test('is reported for an unknown name', async () => {
    const { error_code } = failure(
      await read({ url: 'https://secure.probe.example/' }, { base_url: granted.origin }),
    )
    expect(error_code).toMatch(/^connection_(rejected|timeout)$/)
  })

  test('is reported for a connection that closes in the middle of the body', async () => {
    expect(await failing(breaking)).toMatchObject({
      error_code: 'connection_closed',
      raised_by: 'Keyway.Egress',
    })
  })

  test('without any answer ends the call at its deadline', async () => {
    // The deadline of the probe is 2000 ms, the documented bound 100 ms more; the rest is slack.
    const boundMs = 2000 + 100 + 400
    const tookMs = await bestMs(boundMs, async () => {
      expect((await failing(silent)).error_code).toBe('request_timeout')
    })
    expect(tookMs).toBeGreaterThan(1990)
    expect(tookMs).toBeLessThan(boundMs)
  })
})

test('each request is logged, without its query and the credential', async () => {
  const answer = await read({
    url: `${granted.origin}/logged?key=hidden-in-the-query`,
    headers: { authorization: `Bearer ${TOKEN}` },
  })
  expect(granted.seen.at(-1)?.headers['authorization']).toBe(`Bearer ${TOKEN}`)
  const line = host.lines
    .map((one) => JSON.parse(one))
    .find(
      ({ requestId, msg }) =>
        requestId === answer.headers['x-request-id'] && msg === 'upstream request',
    )
  expect(line).toMatchObject({
    connector: 'probe',
    capability: 'get_account',
    method: 'GET',
    path: '/logged',
    status: 200,
  })
  expect(host.lines.join('')).not.toContain('hidden-in-the-query')
})
