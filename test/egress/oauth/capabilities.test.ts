/** The four capabilities of connector-interface.md section 3.2. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Seen, startUpstream, stopAll } from '../fixtures/upstream.ts'
import { CLIENT, type Declared, declaring, open } from './fixtures.ts'

let upstream: Awaited<ReturnType<typeof startUpstream>>
beforeAll(async () => {
  upstream = await startUpstream((_request, response) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end('{"access_token":"a-token","refresh_token":"another"}'),
  )
})
afterAll(stopAll)

const CODE = { authorization_url: 'https://{settings.zone}.acme.example/authorize' }
const zone = {
  settings: {
    base_url: { type: 'string', format: 'url' },
    zone: { type: 'string', default: 'eu' },
    flow: { type: 'string', enum: ['CODE_FLOW', 'CLIENT_CREDENTIALS'] },
  },
}
const opened = (oauth: Declared = {}, more: object = zone) =>
  open(declaring({ ...CODE, ...oauth }, more), upstream.origin)

const ASKED = {
  client_id: 'the client',
  scopes: ['users:read', 'b'],
  redirect_uri: 'https://app.example/cb?x=1',
  state: 'a state',
}

describe('get_authorization_url', () => {
  const url = async (oauth: Declared = {}, request: object = {}, settings = { zone: 'eu' }) => {
    const { ask } = opened(oauth)
    const { response } = await ask('get_authorization_url', { ...ASKED, ...request }, { settings })
    return response as { authorization_url: string; code_verifier: string | null }
  }

  test('has its parameters in order, encoded as a form', async () => {
    expect(await url()).toEqual({
      authorization_url:
        'https://eu.acme.example/authorize?client_id=the+client&response_type=code&scope=users%3Aread+b&redirect_uri=https%3A%2F%2Fapp.example%2Fcb%3Fx%3D1&state=a+state',
      code_verifier: null,
    })
  })

  test('asks for every declared scope once where the request names none', async () => {
    const scopes = { list_accounts: 'a b', get_account: 'b c' }
    const { authorization_url } = await url({ scopes }, { scopes: [] })
    expect(new URL(authorization_url).searchParams.get('scope')).toBe('a b c')
  })

  test.each([
    [
      'https://acme.example/authorize?tenant=1',
      'https://acme.example/authorize?tenant=1&client_id=',
    ],
    ['https://acme.example/authorize?', 'https://acme.example/authorize?client_id='],
    ['https://acme.example/', 'https://acme.example/?client_id='],
    ['https://acme.example', 'https://acme.example/?client_id='],
  ])('joins its query to that of %s', async (authorization_url, begin) => {
    expect((await url({ authorization_url })).authorization_url).toContain(begin)
  })

  test('returns the verifier of its challenge with PKCE, a new one each time', async () => {
    const [first, second] = [await url({ pkce: true }), await url({ pkce: true })]
    const { searchParams } = new URL(first.authorization_url)
    const digest = await crypto.subtle.digest(
      'SHA-256',
      new TextEncoder().encode(String(first.code_verifier)),
    )
    expect(first.code_verifier).toMatch(/^[\w-]{43}$/)
    expect(searchParams.get('code_challenge_method')).toBe('S256')
    expect(searchParams.get('code_challenge')).toBe(Buffer.from(digest).toString('base64url'))
    expect(second.code_verifier).not.toBe(first.code_verifier)
  })

  test.each(['evil.example/', 'a.b', 'x@y', '127.1', ''])(
    'refuses the setting %j, which would change the host',
    async (value) => {
      const { refusal } = opened()
      const asked = refusal('get_authorization_url', ASKED, { settings: { zone: value } })
      expect((await asked).code).toBe('egress_setting')
    },
  )

  test('names the setting that its URL needs', async () => {
    const { refusal } = opened({}, { settings: { ...zone.settings, zone: { type: 'string' } } })
    expect(await refusal('get_authorization_url', ASKED)).toEqual({
      code: 'settings_invalid',
      message: 'settings: zone missing; the address to sign in at needs it',
    })
  })
})

describe('handle_authorization_callback', () => {
  const callback = (query: string) => ({
    ...CLIENT,
    redirect_uri_with_code: `https://app.example/cb${query}`,
  })

  test('sends the code, the redirect URI without its query, and the verifier', async () => {
    const { ask } = opened()
    const { response } = await ask('handle_authorization_callback', {
      ...callback('?code=the%20code&state=s&iss=https%3A%2F%2Facme.example'),
      state: 's',
      code_verifier: 'v'.repeat(43),
    })
    expect(response).toEqual({
      access_token: 'a-token',
      token_type: 'bearer',
      refresh_token: 'another',
      state: null,
    })
    const { body } = upstream.seen.at(-1) as Seen
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      ...CLIENT,
      grant_type: 'authorization_code',
      code: 'the code',
      redirect_uri: 'https://app.example/cb',
      code_verifier: 'v'.repeat(43),
    })
  })

  test.each([
    [
      '?error=access_denied&error_description=The+user+said+no',
      'oauth_refused',
      'access_denied: The user said no',
    ],
    ['', 'request_invalid', 'has no code'],
    ['?code=', 'request_invalid', 'has no code'],
    ['?code=a&code=b&state=s', 'oauth_garbled', 'code'],
    ['?code=a&state=another', 'request_invalid', 'is not the state of the callback'],
    ['?code=a', 'request_invalid', 'is not the state of the callback'],
    ['?code=a&state=', 'request_invalid', 'is not the state of the callback'],
    ['?code=a&state=s&state=s', 'oauth_garbled', 'state'],
    ['?code=a&id_token=x&state=s', 'oauth_garbled', 'implicit'],
  ])('refuses %s', async (query, code, words) => {
    const { refusal } = opened()
    const asked = await refusal('handle_authorization_callback', { ...callback(query), state: 's' })
    expect(asked).toMatchObject({ code, message: expect.stringContaining(words) })
  })

  test('refuses a redirect URI that is not a URL', async () => {
    const { refusal } = opened()
    const request = { ...CLIENT, redirect_uri_with_code: 'code=a' }
    expect((await refusal('handle_authorization_callback', request)).code).toBe('request_invalid')
  })
})

describe('handle_client_credentials_request', () => {
  const declared = { list_accounts: 'a b', get_account: 'b c' }
  test.each([
    [['a', 'b'], {}, 'a b'],
    [[], {}, undefined],
    [['x'], declared, 'x'],
    [[], declared, 'a b c'],
  ])('asks for the scopes %j, else for those of %j', async (scopes, declaredScopes, scope) => {
    const { ask } = opened({ flow: 'CLIENT_CREDENTIALS', scopes: declaredScopes })
    await ask('handle_client_credentials_request', { ...CLIENT, scopes })
    const { body } = upstream.seen.at(-1) as Seen
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      ...CLIENT,
      grant_type: 'client_credentials',
      ...(scope === undefined ? {} : { scope }),
    })
  })
})

describe('a capability that the flow does not have is missing:', () => {
  test.each([
    ['CODE_FLOW', 'handle_client_credentials_request'],
    ['CLIENT_CREDENTIALS', 'get_authorization_url'],
  ] as const)('%s, %s', async (flow, capability) => {
    const { refusal } = opened({ flow })
    expect((await refusal(capability, { ...ASKED, ...CLIENT })).code).toBe('capability_missing')
  })

  test.each([
    ['CODE_FLOW', 'handle_client_credentials_request'],
    ['CLIENT_CREDENTIALS', 'get_authorization_url'],
  ] as const)('%s by a setting, %s', async (flow, capability) => {
    const { refusal, ask } = opened({ flow: { setting: 'flow' } })
    const settings = { flow, zone: 'eu' }
    const request = { ...ASKED, ...CLIENT, refresh_token: 'r' }
    expect((await refusal(capability, request, { settings })).code).toBe('capability_missing')
    await expect(ask('refresh_access_token', request, { settings })).resolves.toBeDefined()
  })
})

describe('the credential of a request', () => {
  const several = (...ids: string[]) => ({
    authentication_schema: undefined,
    oauth: undefined,
    credentials: [
      ...ids.map((id) => ({
        id,
        kind: 'oauth',
        oauth: { ...CODE, token_url: `{settings.base_url}/${id}` },
      })),
      { id: 'plain', kind: 'token' },
    ],
  })
  const refresh = (credential_id?: string) => ({ ...CLIENT, refresh_token: 'r', credential_id })

  test('is the named one', async () => {
    const { ask } = opened({}, { ...zone, ...several('one', 'two') })
    await ask('refresh_access_token', refresh('two'))
    expect((upstream.seen.at(-1) as Seen).path).toBe('/two')
  })

  test('need not be named when it is the only one', async () => {
    const { ask } = opened({}, { ...zone, ...several('one') })
    await ask('refresh_access_token', refresh())
    expect((upstream.seen.at(-1) as Seen).path).toBe('/one')
  })

  test.each([undefined, 'three', 'plain'])('%s of several is refused', async (id) => {
    const { refusal } = opened({}, { ...zone, ...several('one', 'two') })
    const { code, message } = await refusal('refresh_access_token', refresh(id))
    expect(code).toBe('request_invalid')
    expect(message).toContain('one, two')
  })
})
