/** Runs declared OAuth end to end against a third-party authorization server: consent, tokens, refreshes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missing, type RealSystem, startSystem } from '../real-systems/start.ts'
import { failure, startHost, success, type TestHost } from './host.ts'

const why = missing()
const SCOPES = ['openid', 'offline_access', 'scim.read']
const WEB = { client_id: 'web-app', client_secret: 'web-app-secret' }
const POST = { client_id: 'web-app-post', client_secret: 'web-app-post-secret' }
type Tokens = { access_token: string; refresh_token: string | null; state: string | null }
type Asked = { authorization_url: string; code_verifier: string | null }
type Account = { integration_specific_id: string }

const connector = (id: string, oauth: object) => ({
  'connector.json': JSON.stringify({
    id,
    version: '1.0.0',
    runtime: '^1.0.0',
    authentication_schema: { kind: 'oauth' },
    settings: {
      base_url: { type: 'string', format: 'url', required: true },
      server: { type: 'string', format: 'url', required: true },
    },
    egress: [{ url: '{settings.base_url}/Users' }],
    capabilities: { list_accounts: {} },
    oauth: {
      authorization_url: '{settings.server}/auth',
      token_url: '{settings.server}/token',
      scopes: { list_accounts: SCOPES.join(' ') },
      pkce: true,
      ...oauth,
    },
  }),
  'connector.ts': `import { ConnectorError, defineConnector, paged } from 'keyway/sdk'
export default defineConnector({
  async list_accounts(_request, ctx) {
    const start = Number(ctx.page.cursor ?? 1)
    const count = ctx.page.size ?? 100
    const reply = await ctx.fetch(
      \`\${ctx.settings.base_url}/Users?startIndex=\${start}&count=\${count}\`,
      { headers: { authorization: \`Bearer \${ctx.auth.oauth.access_token}\` } },
    )
    if (!reply.ok) throw await ConnectorError.from(reply)
    const { Resources, totalResults } = await reply.json() as any
    const next = start + Resources.length
    return paged(
      Resources.map((one: any) => ({ integration_specific_id: one.id })),
      next > totalResults ? null : next,
    )
  },
})`,
})

/** What each connector declares in addition to the addresses. */
const CONNECTORS = {
  by_basic: { client_authentication: 'CLIENT_SECRET_BASIC' },
  by_post: {},
  machine: { flow: 'CLIENT_CREDENTIALS', client_authentication: 'CLIENT_SECRET_BASIC' },
}

describe.skipIf(why !== null)(`OAuth with oidc-provider${why ? ` (${why})` : ''}`, () => {
  let system: RealSystem
  let host: TestHost

  beforeAll(async () => {
    system = await startSystem('oidc-scim', { RATE_LIMIT: '1000000' })
    const { host: at } = new URL(system.baseUrl)
    const ids = Object.keys(CONNECTORS)
    host = await startHost({
      env: { KEYWAY_PRIVATE_EGRESS: ids.map((id) => `${id}=${at}`).join(' ') },
      connectors: Object.fromEntries(
        Object.entries(CONNECTORS).map(([id, oauth]) => [id, connector(id, oauth)]),
      ),
    })
    for (const id of ids) await host.served(id, '1.0.0')
  })
  afterAll(async () => {
    await host?.stop()
    await system?.stop()
  })

  const settings = () => ({
    base_url: system.baseUrl,
    server: new URL(system.auth.tokenUrl).origin,
  })
  const call = (id: string, capability: string, request: object, more: object = {}) =>
    host.call(id, capability, { settings: settings(), request, ...more })
  const done = async <T>(...asked: Parameters<typeof call>) =>
    success<T>((await call(...asked)).body)
  const refused = async (...asked: Parameters<typeof call>) => failure(await call(...asked))

  const begin = (id: string, client: typeof WEB, state: string) =>
    done<Asked>(id, 'get_authorization_url', {
      client_id: client.client_id,
      scopes: [...SCOPES],
      redirect_uri: system.auth.redirectUri,
      state,
    })
  const finish = (id: string, client: typeof WEB, callback: string, more: object) =>
    call(id, 'handle_authorization_callback', {
      ...client,
      redirect_uri_with_code: callback,
      ...more,
    })
  /** Obtains tokens as a person does: opens the consent page, consents, and returns to the callback. */
  async function connect(id: string, client: typeof WEB): Promise<Tokens> {
    const { authorization_url, code_verifier } = await begin(id, client, 'the-state')
    const callback = await consent(authorization_url)
    const asked = await finish(id, client, callback, { code_verifier, state: 'the-state' })
    return success<Tokens>(asked.body)
  }
  const refresh = (id: string, client: typeof WEB, refresh_token: string | null) =>
    call(id, 'refresh_access_token', { ...client, refresh_token })
  const listing = (access_token: string) => ({
    settings: settings(),
    auth: { oauth: { access_token } },
    request: {},
  })

  test.each([
    ['by_basic', WEB],
    ['by_post', POST],
  ])("%s lists with a token that a person's consent gave", async (id, client) => {
    const tokens = await connect(id, client)
    expect(tokens.state).toBeNull()
    const pages = await host.pages<Account>(id, 'list_accounts', listing(tokens.access_token), 100)
    expect(new Set(pages.flat().map((one) => one.integration_specific_id)).size).toBe(250)
  })

  test('a code without its verifier is refused', async () => {
    const { authorization_url } = await begin('by_basic', WEB, 's')
    const callback = await consent(authorization_url)
    const { error_code, status_code } = failure(await finish('by_basic', WEB, callback, {}))
    expect({ error_code, status_code }).toEqual({ error_code: 'api_error', status_code: null })
  })

  test('a client obtains a token for itself', async () => {
    const client = { client_id: 'service', client_secret: 'service-secret' }
    const asked = { ...client, scopes: ['scim.read'] }
    const tokens = await done<Tokens>('machine', 'handle_client_credentials_request', asked)
    const answer = await host.call('machine', 'list_accounts', {
      ...listing(tokens.access_token),
      page: { size: 1 },
    })
    expect(success(answer.body)).toHaveLength(1)
  })

  test('a wrong client secret is a permanent error that does not contain the secret', async () => {
    const client = { client_id: 'service', client_secret: 'a-secret-that-is-wrong' }
    const error = await refused('machine', 'handle_client_credentials_request', {
      ...client,
      scopes: [],
    })
    expect(error.error_code).toBe('api_error')
    expect(error.message).toContain('invalid_client')
    expect(error.message).not.toContain('a-secret-that-is-wrong')
  })

  test("raw_data is the provider's answer if it is requested", async () => {
    const client = { client_id: 'service', client_secret: 'service-secret' }
    const request = { ...client, scopes: ['scim.read'] }
    const { body } = await call('machine', 'handle_client_credentials_request', request, {
      include_raw_data: true,
    })
    expect(body.raw_data).toMatchObject({ expires_in: 300, token_type: 'Bearer' })
  })

  test('twenty equal refreshes at once are sent as one, and the grant stays valid', async () => {
    const { refresh_token } = await connect('by_basic', WEB)
    const all = await Promise.all(
      Array.from({ length: 20 }, () => refresh('by_basic', WEB, refresh_token)),
    )
    const tokens = all.map(({ body }) => success<Tokens>(body))
    expect(new Set(tokens.map((one) => one.access_token)).size).toBe(1)
    const [first] = tokens as [Tokens]
    expect(first.refresh_token).not.toBe(refresh_token)
    const again = await refresh('by_basic', WEB, first.refresh_token)
    expect(success<Tokens>(again.body).access_token).not.toBe(first.access_token)
  })

  test('an unknown refresh token is refused', async () => {
    const { error_code, message } = failure(await refresh('by_basic', WEB, 'no-such-refresh-token'))
    expect(error_code).toBe('api_error')
    expect(message).toContain('invalid_grant')
    expect(message).not.toContain('no-such-refresh-token')
  })

  test('a refresh in the middle of a listing does not affect the listing', async () => {
    const first = await connect('by_basic', WEB)
    let { access_token, refresh_token } = first
    const ids: string[] = []
    let page: { token?: string | null; size: number } | null = { size: 60 }
    while (page !== null) {
      const { body } = await host.call('by_basic', 'list_accounts', {
        ...listing(access_token),
        page,
      })
      ids.push(...success<Account[]>(body).map((one) => one.integration_specific_id))
      page = body.page?.token ? { token: body.page.token, size: 60 } : null
      const next = success<Tokens>((await refresh('by_basic', WEB, refresh_token)).body)
      ;({ access_token, refresh_token } = next)
    }
    expect(ids).toHaveLength(250)
    expect(new Set(ids).size).toBe(250)
  })

  test('info lists the OAuth capabilities and scopes', async () => {
    const { body } = await host.send('/connectors/by_basic/info').then((one) => ({
      body: JSON.parse(one.text),
    }))
    expect(body.response.capabilities).toEqual([
      'app_info',
      'get_authorization_url',
      'handle_authorization_callback',
      'list_accounts',
      'refresh_access_token',
    ])
    expect(body.response.oauth_scopes).toEqual({ list_accounts: SCOPES.join(' ') })
  })
})

/** Signs in and consents as a person would, and returns the callback's address. */
async function consent(authorizationUrl: string): Promise<string> {
  const cookies = new Map<string, string>()
  let url = authorizationUrl
  let form: URLSearchParams | null = null
  for (let step = 0; step < 20; step += 1) {
    const reply: Response = await fetch(url, {
      method: form ? 'POST' : 'GET',
      body: form,
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    for (const cookie of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const location = reply.headers.get('location')
    if (location?.startsWith('http://127.0.0.1:9999/')) return location
    if (location) {
      url = new URL(location, url).href
      form = null
      continue
    }
    const page = await reply.text()
    url = new URL(/action="([^"]+)"/.exec(page)?.[1] ?? '', url).href
    form = new URLSearchParams(
      page.includes('name="login"')
        ? { prompt: 'login', login: 'user001', password: 'x' }
        : { prompt: 'consent' },
    )
  }
  throw new Error('the consent page did not redirect to the callback')
}
