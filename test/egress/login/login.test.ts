/** The `exchange` of a manifest, performed by the egress against a real upstream. */
import { afterEach, describe, expect, test } from 'vitest'
import { createEgress, type Egress } from '../../../runtime/egress/fetch.ts'
import { parsePrivateGrants } from '../../../runtime/egress/limits/grants.ts'
import { errorOf, get, manifestOf, openEgress, openedEgresses } from '../fixtures/open-egress.ts'
import { sealed } from '../fixtures/secrets.ts'
import { type Seen, startUpstream, stopAll } from '../fixtures/upstream.ts'

afterEach(async () => {
  await Promise.all(openedEgresses.splice(0).map((client) => client.close()))
  await stopAll()
})

const EXCHANGE = {
  request: {
    url: '{settings.base_url}/v3/auth/tokens',
    json: {
      auth: { user: '{auth.basic.username}', password: '{auth.basic.password}' },
      to: ['{settings.n}'],
    },
  },
  capture: { header: 'x-subject-token' },
  expires: { json: '/token/expires_at' },
  use: { header: 'x-auth-token' },
}

type Given = {
  exchange?: object
  egress?: object[]
  /** Replies to logins, in order; the last one repeats. */
  logins?: { status?: number; token?: string; body?: string; header?: string }[]
  /** Whether the upstream accepts a token. */
  takes?: (token: string) => boolean
}

/** An egress, an upstream with a login, and calls of one tenant with this password. */
async function scene({ exchange = {}, egress, logins, takes = () => true }: Given = {}) {
  let turn = 0
  const answers: NonNullable<Given['logins']> =
    logins ?? Array.from({ length: 100 }, (_, index) => ({ token: `the-token-number-${index}` }))
  const upstream = await startUpstream((request, response) => {
    if (request.method === 'POST' && request.url?.endsWith('/tokens')) {
      const {
        status = 201,
        token,
        body,
        header = 'x-subject-token',
      } = answers[Math.min(turn, answers.length - 1)] ?? {}
      turn += 1
      response.writeHead(status, token === undefined ? {} : { [header]: token })
      response.end(
        body ?? JSON.stringify({ token: { expires_at: new Date(Date.now() + 3_600_000) } }),
      )
      return
    }
    const token = String(request.headers['x-auth-token'] ?? '')
    response.writeHead(takes(token) ? 200 : 401)
    response.end(JSON.stringify({ echo: request.headers }))
  })
  const manifest = manifestOf(egress ?? [{ url: '{settings.base_url}' }], {
    exchange: { ...EXCHANGE, ...exchange },
    authentication_schema: { kind: 'basic' },
    settings: { base_url: { type: 'string', format: 'url' }, n: { type: 'integer' } },
  })
  const client = createEgress({
    privateGrants: parsePrivateGrants(`acme=127.0.0.1:${upstream.port}`),
    proxy: null,
    userAgent: 'keyway/test',
  })
  openedEgresses.push(client)
  const call = (password = 'the-password', signal = new AbortController().signal) =>
    openCall(client, manifest, upstream.origin, password, signal)
  const logged = () => upstream.seen.filter(({ method }) => method === 'POST')
  const asked = () => upstream.seen.filter(({ method }) => method === 'GET')
  return { ...upstream, manifest, call, logged, asked }
}

function openCall(
  client: Egress,
  manifest: ReturnType<typeof manifestOf>,
  origin: string,
  password: string,
  signal: AbortSignal,
) {
  const settings = { base_url: `${origin}/id`, n: 7 }
  const secrets = sealed(
    { auth: { basic: { username: 'jo', password } }, settings },
    manifest.settings,
  )
  const open = client.open({
    connectorId: 'acme',
    manifest,
    capability: 'list_accounts',
    level: 'read',
    settings,
    signal,
    secrets: { ...secrets, tenant: password },
  })
  const placeholder = `${secrets.marks.head}${secrets.call}e${secrets.marks.tail}`
  return {
    ...open,
    secrets,
    placeholder,
    fetch: (more = {}) => open.fetch(get(`${origin}/id/users`, more)),
  }
}

const tokensOf = (seen: Seen[]) => seen.map(({ headers }) => headers['x-auth-token'])

describe('the host logs in', () => {
  test('before the first request, as declared, and sends the token with each request', async () => {
    const { call, logged, asked } = await scene()
    const { fetch, records, hasWritten } = call()
    await fetch()
    await fetch()
    expect(logged().map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
      ['/id/v3/auth/tokens', { auth: { user: 'jo', password: 'the-password' }, to: [7] }],
    ])
    expect(tokensOf(asked())).toEqual(['the-token-number-0', 'the-token-number-0'])
    expect(records.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      'GET /id/users',
      'GET /id/users',
      'POST /id/v3/auth/tokens',
    ])
    expect(hasWritten()).toBe(false)
  })

  test('once for concurrent calls of a tenant, and again for another tenant', async () => {
    const { call, logged, asked } = await scene()
    await Promise.all(Array.from({ length: 20 }, () => call().fetch()))
    expect(logged()).toHaveLength(1)
    await call('another-password').fetch()
    expect(logged().map(({ body }) => JSON.parse(body).auth.password)).toEqual([
      'the-password',
      'another-password',
    ])
    expect(new Set(tokensOf(asked())).size).toBe(2)
  })

  test('for a caller that waited for a login whose own caller has gone', async () => {
    const { call, logged } = await scene()
    const gone = new AbortController()
    const first = call('the-password', gone.signal).fetch()
    const second = call().fetch()
    gone.abort()
    await expect(first).rejects.toThrow()
    expect((await second).status).toBe(200)
    expect(logged().length).toBeGreaterThan(0)
  })

  test('at the declared URL, with its trailing slash', async () => {
    const url = '{settings.base_url}/auth/'
    const { call, seen } = await scene({ exchange: { request: { url, json: {} } } })
    await call()
      .fetch()
      .catch(() => {})
    expect(seen[0]?.path).toBe('/id/auth/')
  })

  test('again before the token expires', async () => {
    const { call, logged } = await scene({ exchange: { expires: { seconds: 1 } } })
    await call().fetch()
    await new Promise((resolve) => setTimeout(resolve, 950))
    await call().fetch()
    expect(logged()).toHaveLength(2)
  })

  test('again, once, when the token is refused, and then repeats the request', async () => {
    const { call, logged, asked } = await scene({ takes: (token) => token.endsWith('1') })
    expect((await call().fetch()).status).toBe(401)
    // The token was made for this request, so its age is not the reason.
    expect(logged()).toHaveLength(1)
    expect((await call().fetch()).status).toBe(200)
    expect(tokensOf(asked())).toEqual([
      'the-token-number-0',
      'the-token-number-0',
      'the-token-number-1',
    ])
  })

  test('at most once for each request, even when every token is refused', async () => {
    const { call, logged, asked } = await scene({ takes: () => false })
    await call().fetch()
    for (let round = 0; round < 3; round += 1) expect((await call().fetch()).status).toBe(401)
    expect(logged()).toHaveLength(4)
    expect(asked()).toHaveLength(7)
  })

  test('by a form with Basic and a custom header, and captures the token from JSON', async () => {
    const { call, logged, asked } = await scene({
      exchange: {
        request: {
          url: '{settings.base_url}/tokens',
          headers: { Authorization: '{basic}', 'x-n': 'n={settings.n}' },
          form: { grant_type: 'password', password: '{auth.basic.password}' },
        },
        capture: { json: '/deep/0/access~1token' },
        expires: { json: '/expires_in' },
        use: { header: 'authorization' },
      },
      logins: [{ body: '{"deep":[{"access/token":"the-captured-one"}],"expires_in":60}' }],
    })
    await call('p&ss wörd').fetch()
    const [login] = logged()
    expect(Object.fromEntries(new URLSearchParams(login?.body))).toEqual({
      grant_type: 'password',
      password: 'p&ss wörd',
    })
    expect(login?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('jo:p&ss wörd').toString('base64')}`,
      'x-n': 'n=7',
    })
    expect(asked()[0]?.headers['authorization']).toBe('Bearer the-captured-one')
  })
})

describe('the connector', () => {
  test('never sees the token, even when it is echoed, and can send it in another header', async () => {
    const { call, asked } = await scene()
    const { fetch, placeholder } = call()
    const reply = await fetch({
      headers: [
        ['x-too', placeholder],
        ['X-Auth-Token', 'its own'],
      ],
    })
    expect(asked()[0]?.headers).toMatchObject({
      'x-too': 'the-token-number-0',
      'x-auth-token': 'the-token-number-0',
    })
    expect(`${reply.body}`).toContain(`"x-auth-token":"${placeholder}"`)
    expect(`${reply.body}`).not.toContain('the-token-number-0')
  })

  test('cannot send the token where its credential may not go', async () => {
    const { call, asked } = await scene({
      egress: [
        { url: '{settings.base_url}/users', secrets: [], methods: ['GET'] },
        { url: '{settings.base_url}/v3/auth' },
      ],
    })
    const { fetch, placeholder } = call()
    expect((await fetch()).status).toBe(200)
    expect(tokensOf(asked())).toEqual([undefined])
    expect(await errorOf(fetch({ headers: [['x', placeholder]] }))).toMatchObject({
      code: 'egress_secret',
    })
  })
})

describe('a login that fails', () => {
  test.each([
    [400, 'unauthenticated'],
    [401, 'unauthenticated'],
    [403, 'permission_denied'],
    [404, 'not_found'],
    [429, 'rate_limit'],
    [500, 'api_error'],
    [503, 'service_error'],
  ])('with %i is %s, and is not retried in the call', async (status, wire) => {
    const { call, logged, asked } = await scene({
      logins: [{ status, body: 'wrong the-password' }],
    })
    const { fetch } = call()
    const error = await errorOf(fetch())
    expect(error).toMatchObject({ code: 'exchange_failed', details: { wire, statusCode: status } })
    expect(error.message).toContain('wrong ')
    expect(error.message).not.toContain('the-password')
    expect((await errorOf(fetch())).code).toBe('exchange_failed')
    expect([logged().length, asked().length]).toEqual([1, 0])
  })

  test.each(['pw!', 'p', '9chars-pw'])(
    'with the password %j never shows it, even if it is short or the message is truncated within it',
    async (password) => {
      const body = `${'- '.repeat(395)}${password} and password=${encodeURIComponent(password)}`
      const { call } = await scene({ logins: [{ status: 401, body }] })
      const { message } = await errorOf(call(password).fetch())
      expect(message).toContain('[secret]')
      expect(message.replaceAll('[secret]', '').split(/[^\w!-]+/)).not.toContain(password)
    },
  )

  test.each([
    [{ header: 'x-other', token: 'a' }, {}],
    [{ token: '' }, {}],
    [{ body: '<html>' }, { capture: { json: '/token' } }],
    [{ body: '{"token":{"a":1}}' }, { capture: { json: '/token' } }],
    [{ body: '{}' }, { capture: { json: '/__proto__/constructor/name' } }],
  ])('to return a token is reported: %j', async (login, exchange) => {
    const { call, asked } = await scene({ logins: [login], exchange })
    expect(await errorOf(call().fetch())).toMatchObject({ code: 'exchange_empty' })
    expect(asked()).toEqual([])
  })

  test('because egress does not allow it is refused like any request', async () => {
    const { call, seen } = await scene({ egress: [{ url: '{settings.base_url}/users' }] })
    expect(await errorOf(call().fetch())).toMatchObject({ code: 'egress_undeclared' })
    expect(seen).toEqual([])
  })
})

test('a token obtained with a secret setting is sent only where that setting may go', async () => {
  const { port, origin, seen } = await startUpstream((request, response) => {
    response.end(request.url === '/login' ? '{"token":"the-derived-token"}' : '{}')
  })
  const settings = { base_url: origin, api_key: 'the-secret-setting' }
  const manifest = manifestOf(
    [
      { url: '{settings.base_url}/login', secrets: ['settings.api_key'] },
      { url: '{settings.base_url}/others', secrets: ['auth'] },
    ],
    {
      authentication_schema: { kind: 'token' },
      settings: {
        base_url: { type: 'string', format: 'url' },
        api_key: { type: 'string', secret: true },
      },
      exchange: {
        request: {
          url: '{settings.base_url}/login',
          json: { key: '{settings.api_key}', from: '{settings.base_url}' },
        },
        capture: { json: '/token' },
        use: { header: 'x-auth-token' },
      },
    },
  )
  const secrets = sealed({ auth: { token: { token: 'a-token' } }, settings }, manifest.settings)
  const grants = `acme=127.0.0.1:${port}`
  const { fetch } = openEgress({ egress: [], grants, call: { manifest, settings, secrets } })
  await fetch(get(`${origin}/others`))
  await fetch(get(`${origin}/login`))
  expect(seen.map(({ path, headers }) => [path, headers['x-auth-token']])).toEqual([
    ['/others', undefined],
    ['/login', undefined],
    ['/login', 'the-derived-token'],
  ])
})

test('a call whose secrets are all granted in clear logs in like any other', async () => {
  const { manifest, origin, port, seen } = await scene()
  const settings = { base_url: `${origin}/id`, n: 7 }
  const auth = { basic: { username: 'jo', password: 'the-password' } }
  const granted = sealed({ auth, settings }, manifest.settings, ['basic.password'])
  const grants = `acme=127.0.0.1:${port}`
  const call = { manifest, settings, secrets: granted }
  const { fetch } = openEgress({ egress: [], grants, call })
  const reply = await fetch(get(`${origin}/id/users`))
  expect(seen.map(({ path }) => path)).toEqual(['/id/v3/auth/tokens', '/id/users'])
  expect(seen[1]?.headers['x-auth-token']).toBe('the-token-number-0')
  expect(`${reply.body}`).not.toContain('the-token-number-0')
})
