/** Grants that an operator revokes while a request waits for its turn, for a retry or for a redirect. */
import type { Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { EgressOptions } from '../../../runtime/egress/fetch.ts'
import { until } from '../../e2e/until.ts'
import { errorOf, get, manifestOf, openEgress, openedEgresses } from '../fixtures/open-egress.ts'
import { sealed, withToken } from '../fixtures/secrets.ts'
import { startTcp, startUpstream, stopAll } from '../fixtures/upstream.ts'

afterEach(async () => {
  await Promise.all(openedEgresses.splice(0).map((client) => client.close()))
  await stopAll()
})

const ONE_BY_ONE = { limits: { concurrent_requests: 1 } }

/** An egress whose entries can be revoked. */
function openRevocable(
  egress: object[],
  ports: number[],
  more: object = {},
  call: object = {},
  options: Partial<EgressOptions> = {},
) {
  let manifest = manifestOf(egress, more)
  const client = openEgress({
    egress,
    grants: ports.map((port) => `acme=127.0.0.1:${port}`).join(' '),
    manifestNow: () => manifest,
    call,
    ...options,
  })
  const leave = (left: object[]) => {
    manifest = manifestOf(left, more)
  }
  return { client, leave }
}

test('a request whose turn comes after its grant was revoked is not sent', async () => {
  const held = Promise.withResolvers<void>()
  const { port, origin, seen } = await startUpstream((_request, response) => {
    void held.promise.then(() => response.end())
  })
  const { client, leave } = openRevocable([{ url: origin }], [port], ONE_BY_ONE)
  const first = client.fetch(get(`${origin}/first`))
  await until('the first request has arrived', () => seen.length === 1)
  const second = errorOf(client.fetch(get(`${origin}/second`)))
  leave([{ url: 'https://elsewhere.example' }])
  held.resolve()
  expect((await first).status).toBe(200)
  expect((await second).code).toBe('egress_undeclared')
  expect(seen.map(({ path }) => path)).toEqual(['/first'])
  expect(client.records[1]).toMatchObject({ sent: false, error: 'egress_undeclared' })
  // Its turn is free again.
  leave([{ url: origin }])
  expect((await client.fetch(get(`${origin}/third`))).status).toBe(200)
})

test('a request that waits for its turn ends at once when its grant is revoked', async () => {
  const { port, origin, seen } = await startUpstream(() => {})
  const { client, leave } = openRevocable(
    [{ url: `${origin}/first` }, { url: `${origin}/second` }],
    [port],
    ONE_BY_ONE,
  )
  const gone = new AbortController()
  const first = errorOf(client.fetch({ ...get(`${origin}/first`), signal: gone.signal }))
  await until('the first request has arrived', () => seen.length === 1)
  const second = errorOf(client.fetch(get(`${origin}/second`)))
  leave([{ url: `${origin}/first` }])
  client.judgeAgain()
  expect((await second).code).toBe('egress_undeclared')
  expect(client.records[1]).toMatchObject({ sent: false, error: 'egress_undeclared' })
  gone.abort()
  await first
  expect(seen.map(({ path }) => path)).toEqual(['/first'])
})

test('an unrelated change of the grants does not affect a waiting request', async () => {
  const held = Promise.withResolvers<void>()
  const { port, origin, seen } = await startUpstream((_request, response) => {
    void held.promise.then(() => response.end())
  })
  const { client, leave } = openRevocable([{ url: origin }], [port], ONE_BY_ONE)
  const first = client.fetch(get(`${origin}/first`))
  await until('the first request has arrived', () => seen.length === 1)
  const second = client.fetch(get(`${origin}/second`))
  leave([{ url: origin }, { url: 'https://elsewhere.example' }])
  held.resolve()
  expect([(await first).status, (await second).status]).toEqual([200, 200])
  expect(seen.map(({ path }) => path)).toEqual(['/first', '/second'])
})

test('a request is not retried after its grant was revoked', async () => {
  const { port, origin, seen } = await startUpstream((_request, response) => {
    leave([])
    response.writeHead(429, { 'retry-after': '1' }).end()
  })
  const { client, leave } = openRevocable([{ url: origin }], [port])
  expect((await errorOf(client.fetch(get(origin)))).code).toBe('egress_undeclared')
  expect(seen).toHaveLength(1)
})

test('a request that waits for a retry ends at once when its grant is revoked', async () => {
  const { port, origin, seen } = await startUpstream((_request, response) => {
    response.writeHead(429, { 'retry-after': '3600' }).end()
  })
  const { client, leave } = openRevocable(
    [{ url: origin }],
    [port],
    {},
    { endMs: Date.now() + 24 * 3_600_000 },
  )
  const ended = errorOf(client.fetch(get(origin)))
  await until('the request was refused', () => client.records[0]?.status === 429)
  await new Promise((resolve) => setTimeout(resolve, 20))
  leave([])
  client.judgeAgain()
  expect((await ended).code).toBe('egress_undeclared')
  expect(seen).toHaveLength(1)
  // It is no longer checked.
  leave([{ url: origin }])
  client.judgeAgain()
})

test('a redirect is not followed to an origin whose grant was revoked meanwhile', async () => {
  const target = await startUpstream((_request, response) => response.end())
  const { port, origin } = await startUpstream((_request, response) => {
    leave([{ url: origin }])
    response.writeHead(302, { location: target.origin }).end()
  })
  const { client, leave } = openRevocable(
    [{ url: origin }, { url: target.origin }],
    [port, target.port],
  )
  expect((await errorOf(client.fetch(get(origin)))).code).toBe('egress_undeclared')
  expect(target.seen).toEqual([])
})

const BRIDGES: [what: string, url: string, method: string, body: object][] = [
  ['a directory', 'ldap:', 'SEARCH', { filter: { present: 'cn' } }],
  ['a database', 'sql:', 'QUERY', { statement: 'people', parameters: [] }],
]

/** An egress to a server that never answers, and a function that sends it a request. */
async function silentServer(url: string, method: string, body: object) {
  const sockets: Socket[] = []
  const port = await startTcp((socket) => sockets.push(socket))
  const at = `127.0.0.1:${port}`
  const login = { credential: 'login' }
  const entry =
    url === 'ldap:'
      ? { ldap: `ldaps://${at}`, base: 'dc=acme', bind: login }
      : { sql: `postgresql://${at}`, dialect: 'postgresql', database: 'hr', login }
  const statements = { people: { text: 'select 1', reads: true } }
  const basic = { username: 'keyway', password: 'the-password-of-the-login' }
  const secrets = sealed({ credentials: { login: { basic } } })
  const { client, leave } = openRevocable(
    [entry],
    [port],
    { ...ONE_BY_ONE, statements },
    { secrets },
  )
  const ask = () =>
    errorOf(
      client.fetch({
        ...{ url, method, headers: [], redirect: 'error' },
        body: Buffer.from(JSON.stringify(body)),
      }),
    )
  return { sockets, client, leave, ask }
}

test.each(BRIDGES)('%s is sent no request after its grant was revoked', async (_what, ...asked) => {
  const { sockets, leave, ask } = await silentServer(...asked)
  const first = ask()
  await until('the first request has arrived', () => sockets.length === 1)
  const second = ask()
  leave([])
  sockets[0]?.destroy()
  expect((await first).code).toMatch(/^upstream_/)
  expect((await second).code).toBe('egress_undeclared')
  expect(sockets).toHaveLength(1)
})

test.each(BRIDGES)('a request to %s ends once its grant is revoked', async (_what, ...asked) => {
  const { sockets, client, leave, ask } = await silentServer(...asked)
  const first = ask()
  await until('the request has arrived', () => sockets.length === 1)
  const closed = new Promise((resolve) => sockets[0]?.on('close', resolve).resume())
  leave([])
  client.judgeAgain()
  expect((await first).code).toBe('egress_undeclared')
  await closed
})

test('a request that waits for its response ends once its grant is revoked; a granted one goes on', async () => {
  const held = Promise.withResolvers<void>()
  const closed: string[] = []
  const answering = (name: string) =>
    startUpstream((_request, response) => {
      response.on('close', () => closed.push(name))
      void held.promise.then(() => response.end('{}'))
    })
  const [gone, stays] = [await answering('gone'), await answering('stays')]
  const { client, leave } = openRevocable(
    [{ url: gone.origin }, { url: stays.origin }],
    [gone.port, stays.port],
  )
  const ended = errorOf(client.fetch(get(gone.origin)))
  const goes = client.fetch(get(stays.origin))
  await until('both requests have arrived', () => gone.seen.length + stays.seen.length === 2)
  leave([{ url: stays.origin }])
  client.judgeAgain()
  expect((await ended).code).toBe('egress_undeclared')
  await until('its connection is closed', () => closed.join() === 'gone')
  expect(client.records[0]).toMatchObject({ sent: true, error: 'egress_undeclared' })
  held.resolve()
  expect((await goes).status).toBe(200)
  // The response is complete, so nothing is checked any more.
  leave([])
  client.judgeAgain()
})

test('a write that was sent before its grant was revoked is reported as possibly done', async () => {
  const { port, origin, seen } = await startUpstream(() => {})
  const { client, leave } = openRevocable([{ url: origin, methods: ['GET', 'POST'] }], [port])
  const ended = errorOf(client.fetch({ ...get(origin), method: 'POST' }))
  await until('the request has arrived', () => seen.length === 1)
  leave([])
  client.judgeAgain()
  const { code, message } = await ended
  expect(code).toBe('taken_away')
  expect(message).toMatch(/may have been done$/)
})

test('a request that a revoked grant refuses after a write is reported as taken_away', async () => {
  const { port, origin } = await startUpstream((_request, response) => response.end('{}'))
  const { client, leave } = openRevocable([{ url: origin, methods: ['GET', 'POST'] }], [port])
  expect((await errorOf(client.fetch(get('https://elsewhere.example')))).code).toBe(
    'egress_undeclared',
  )
  await client.fetch({ ...get(origin), method: 'POST' })
  // A request that was never granted is an error of the connector.
  expect((await errorOf(client.fetch(get('https://elsewhere.example')))).code).toBe(
    'egress_undeclared',
  )
  leave([])
  expect((await errorOf(client.fetch(get(origin)))).code).toBe('taken_away')
})

test('the growth of a request by its secrets is counted once, even when they are filled in again', async () => {
  const held = Promise.withResolvers<void>()
  const { port, origin, seen } = await startUpstream((_request, response) => {
    void held.promise.then(() => response.end())
  })
  const { secrets, placeholder } = withToken('x'.repeat(3000))
  const { client, leave } = openRevocable(
    [{ url: origin }],
    [port],
    { ...ONE_BY_ONE, authentication_schema: { kind: 'token' } },
    { secrets },
    { limits: { maxOpenRequestBytes: 5000 } },
  )
  const first = client.fetch(get(`${origin}/first`))
  await until('the first request has arrived', () => seen.length === 1)
  const second = client.fetch({
    ...get(`${origin}/second`, { method: 'POST', body: Buffer.from(`{"key":"${placeholder}"}`) }),
    headers: [['content-type', 'application/json']],
  })
  leave([{ url: origin }, { url: 'https://elsewhere.example' }])
  held.resolve()
  expect([(await first).status, (await second).status]).toEqual([200, 200])
})

test('the token of a login is not used after the grant of the login was revoked', async () => {
  const { port, origin, seen } = await startUpstream((_request, response) =>
    response.end('{"token":"the-token-of-the-login"}'),
  )
  const other = { url: `${origin}/v1` }
  const { client, leave } = openRevocable(
    [{ url: `${origin}/login` }, other],
    [port],
    {
      authentication_schema: { kind: 'token' },
      exchange: {
        request: { url: `${origin}/login`, json: { key: '{auth.token.token}' } },
        capture: { json: '/token' },
        use: { header: 'authorization' },
      },
    },
    { secrets: sealed({ auth: { token: { token: 'the-token-of-the-app' } } }) },
  )
  const ask = () => client.fetch(get(`${origin}/v1/users`))
  expect((await ask()).status).toBe(200)
  leave([other])
  expect((await errorOf(ask())).code).toBe('egress_undeclared')
  expect(seen.map(({ path }) => path)).toEqual(['/login', '/v1/users'])
})
