/** Replies of authorization servers, usual and unusual. */

import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { listen, type Seen, startUpstream, stopAll } from '../fixtures/upstream.ts'
import { CLIENT, type Declared, declaring, open } from './fixtures.ts'

type Reply = { status?: number; type?: string; body: string; delayMs?: number }
let reply: Reply = { body: '' }
let upstream: Awaited<ReturnType<typeof startUpstream>>

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => {
    const { status = 200, type = 'application/json', body, delayMs = 0 } = reply
    setTimeout(() => response.writeHead(status, { 'content-type': type }).end(body), delayMs)
  })
})
afterAll(stopAll)

const TOKENS = {
  access_token: 'a-token',
  token_type: 'Bearer',
  refresh_token: 'another',
  expires_in: 60,
}
const REFRESH = { ...CLIENT, refresh_token: 'the-refresh-token' }
const json = (body: unknown, more: Partial<Reply> = {}): Reply => ({
  body: JSON.stringify(body),
  ...more,
})

const refresh = async (given: Reply, oauth: Declared = {}) => {
  reply = given
  const { ask, close } = open(declaring({ flow: 'CLIENT_CREDENTIALS', ...oauth }), upstream.origin)
  return ask('refresh_access_token', REFRESH).finally(close)
}
const refused = async (given: Reply) => {
  const error: unknown = await refresh(given).catch((one: unknown) => one)
  if (!(error instanceof RuntimeError)) throw new Error('the request was not refused')
  return { code: error.code, message: error.message }
}

describe('a token reply is accepted', () => {
  test('with its type in lower case, and unchanged as raw_data', async () => {
    const { response, raw } = await refresh(json(TOKENS))
    expect(response).toEqual({
      access_token: 'a-token',
      token_type: 'bearer',
      refresh_token: 'another',
      state: null,
    })
    expect(raw).toEqual(TOKENS)
  })

  test.each([
    ['without a type', { access_token: 'a-token' }],
    [
      'with a null type and a null refresh token',
      { access_token: 'a-token', token_type: null, refresh_token: null },
    ],
    ['with an id token that was not requested', { access_token: 'a-token', id_token: 'x.y.z' }],
    ['with scopes as a list', { access_token: 'a-token', scope: ['a'] }],
  ])('%s', async (_how, given) => {
    const { response } = await refresh(json(given))
    expect(response).toEqual({
      access_token: 'a-token',
      token_type: 'bearer',
      refresh_token: null,
      state: null,
    })
  })

  test('with a custom type that is declared', async () => {
    const given = json({ access_token: 'a-token', token_type: 'Bot' })
    const { response } = await refresh(given, { bearer_types: ['bot', 'user'] })
    expect(response).toMatchObject({ access_token: 'a-token', token_type: 'bearer' })
  })

  test('as a form', async () => {
    const { response } = await refresh({
      type: 'application/x-www-form-urlencoded',
      body: 'access_token=a-token&token_type=bearer',
    })
    expect(response).toMatchObject({ access_token: 'a-token' })
  })
})

describe('a token reply without a usable token is refused:', () => {
  test.each<[string, Reply]>([
    ['HTML', { type: 'text/html', body: '<h1>Sign in</h1>' }],
    ['no body', { body: '' }],
    ['a list', json([TOKENS])],
    ['no access_token', json({ token_type: 'bearer' })],
    ['a number as the token', json({ ...TOKENS, access_token: 1 })],
    ['an empty token', json({ ...TOKENS, access_token: '' })],
    ['a type that is not bearer', json({ ...TOKENS, token_type: 'mac' })],
    ['a proof-of-possession type', json({ ...TOKENS, token_type: 'DPoP' })],
    ['an undeclared token type', json({ ...TOKENS, token_type: 'bot' })],
  ])('%s', async (_what, given) => {
    expect(await refused(given)).toMatchObject({ code: 'oauth_garbled' })
  })
})

describe('an error of the token endpoint is reported:', () => {
  test.each([302, 400, 401, 403, 429, 500, 503])('status %i', async (status) => {
    const { code, message } = await refused(json({ error: 'invalid_grant' }, { status }))
    expect(code).toBe('oauth_refused')
    expect(message).toBe(`[${status}][${upstream.origin}/token] {"error":"invalid_grant"}`)
  })

  test('an error in the body of a 200', async () => {
    const { code, message } = await refused(json({ error: 'bad_verification_code' }))
    expect(code).toBe('oauth_refused')
    expect(message).toContain('bad_verification_code')
  })

  test('a slow server, when the call ends', async () => {
    reply = json(TOKENS, { delayMs: 2000 })
    const { refusal, close } = open(declaring({ flow: 'CLIENT_CREDENTIALS' }), upstream.origin)
    const over = new AbortController()
    setTimeout(() => over.abort(new RuntimeError('deadline_passed', 'late')), 50)
    const asked = refusal('refresh_access_token', REFRESH, { signal: over.signal })
    expect(await asked).toEqual({ code: 'deadline_passed', message: 'late' })
    await close()
  })
})

describe('the request is sent', () => {
  const sent = async (oauth: Declared): Promise<Seen> => {
    await refresh(json(TOKENS), oauth)
    return upstream.seen.at(-1) as Seen
  }
  const parameters = {
    grant_type: 'refresh_token',
    refresh_token: 'the-refresh-token',
    client_id: 'the-client',
    client_secret: 'the-secret-of-the-client',
  }

  test('as a form, with the client in it', async () => {
    const { method, path, headers, body } = await sent({})
    expect({ method, path, type: headers['content-type'] }).toEqual({
      method: 'POST',
      path: '/token',
      type: 'application/x-www-form-urlencoded',
    })
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual(parameters)
    expect(headers['authorization']).toBeUndefined()
  })

  test('as JSON', async () => {
    const { headers, body } = await sent({ request: { data: 'JSON' } })
    expect(headers['content-type']).toBe('application/json')
    expect(JSON.parse(body)).toEqual(parameters)
  })

  test.each(['GET', 'POST'])('as a query, by %s, added to the existing query', async (method) => {
    const {
      method: seen,
      path,
      body,
    } = await sent({
      token_url: '{settings.base_url}/token?version=2',
      request: { method, data: 'QUERY' },
    })
    expect({ seen, body }).toEqual({ seen: method, body: '' })
    const url = new URL(path, upstream.origin)
    expect(Object.fromEntries(url.searchParams)).toEqual({ version: '2', ...parameters })
  })

  test('with the client in its header', async () => {
    const { headers, body } = await sent({ client_authentication: 'CLIENT_SECRET_BASIC' })
    // RFC 6749 section 2.3.1: both parts are form-encoded, "-" by oauth4webapi too.
    const basic = Buffer.from(String(headers['authorization']).slice(6), 'base64').toString()
    expect(decodeURIComponent(basic)).toBe('the-client:the-secret-of-the-client')
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      grant_type: 'refresh_token',
      refresh_token: 'the-refresh-token',
    })
  })
})

test('a secret is sent to the token endpoint only, even when it redirects', async () => {
  const seen: string[] = []
  const otherServer = await listen(
    createServer((request, response) => {
      seen.push(String(request.url))
      response.end('{}')
    }),
  )
  const server = await startUpstream((_request, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${otherServer}/token` }).end(),
  )
  const { refusal, close } = open(declaring({ flow: 'CLIENT_CREDENTIALS' }), server.origin)
  expect(await refusal('refresh_access_token', REFRESH)).toMatchObject({ code: 'oauth_refused' })
  expect(seen).toEqual([])
  await close()
})

describe('a request to a token endpoint', () => {
  test.each([429, 503, 500])('is sent only once when the response is %i', async (status) => {
    const before = upstream.seen.length
    const { code } = await refused({ status, body: 'slow down' })
    expect([code, upstream.seen.length - before]).toEqual(['oauth_refused', 1])
  })

  test('form-encodes ids and secrets in Basic exactly once', async () => {
    reply = json(TOKENS)
    const declared = { flow: 'CLIENT_CREDENTIALS', client_authentication: 'CLIENT_SECRET_BASIC' }
    const { ask, close } = open(declaring(declared), upstream.origin)
    const request = { client_id: 'a-b._*c', client_secret: "s!~'() :é", refresh_token: 'r' }
    await ask('refresh_access_token', request).finally(close)
    const pair = String(upstream.seen.at(-1)?.headers['authorization']).replace('Basic ', '')
    expect(Buffer.from(pair, 'base64').toString()).toBe('a-b._*c:s%21%7E%27%28%29+%3A%C3%A9')
  })

  test.each([
    [{ state: 'theirs' }, 'theirs'],
    [{}, null],
    [{ state: 5 }, null],
  ])('answered with %j returns the state %j', async (more, state) => {
    reply = json({ ...TOKENS, ...more })
    const declared = { authorization_url: 'https://acme.example/authorize' }
    const { ask, close } = open(declaring(declared), upstream.origin)
    const redirect_uri_with_code = 'https://app.example/cb?code=c&state=ours'
    const request = { ...CLIENT, redirect_uri_with_code, state: 'ours' }
    const { response } = await ask('handle_authorization_callback', request).finally(close)
    expect(response).toMatchObject({ state })
  })
})
