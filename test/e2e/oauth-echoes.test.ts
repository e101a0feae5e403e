/**
 * Token endpoints that echo the whole request: no secret of a request leaves through any channel, however
 * short it is.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Seen, startUpstream, stopAll } from '../egress/fixtures/upstream.ts'
import { code } from '../fixtures/folders.ts'
import { ADMIN_TOKEN, startHost, type TestHost } from './host.ts'

const SHORT = { client_secret: 'S3c!', code: 'C/1', code_verifier: 'V~9', refresh_token: 'R.7q' }
const LONG = {
  client_secret: 'a-client-secret/of some length',
  code: '4/0AX4XfWh-a-code+of its own',
  code_verifier: `${'v'.repeat(40)}w.~`,
  refresh_token: 'a-refresh-token-of-some-length',
}

/** Answers of the endpoint, by path: each contains the whole request. */
const MODES: Record<string, (seen: string) => { status: number; headers?: object; body: string }> =
  {
    refused: (seen) => ({ status: 400, body: `you sent ${seen}` }),
    page: (seen) => ({ status: 500, body: `<html><a href="/x?${seen}">${seen}</a></html>` }),
    redirect: (seen) => ({
      status: 302,
      headers: { location: `/y?${encodeURI(seen)}` },
      body: seen,
    }),
    garbled: (seen) => ({ status: 200, body: seen }),
    error: (seen) => ({
      status: 200,
      body: JSON.stringify({ error: 'no', error_description: seen }),
    }),
    another: (seen) => ({
      status: 200,
      body: JSON.stringify({ access_token: 'at', token_type: seen }),
    }),
    given: (seen) => ({
      status: 200,
      body: JSON.stringify({ access_token: 'at', debug: { seen, [seen]: [seen] } }),
    }),
  }

const FLOWS = { authorization_url: '{settings.base_url}/auth', pkce: true }
const OWN = `
  const ask = async (parameters: Record<string, string>, ctx: any) => {
    const reply = await ctx.fetch(ctx.settings.base_url, {
      method: 'POST',
      body: new URLSearchParams(parameters),
    })
    const text = await reply.text()
    ctx.log.warn('it said ' + text, { text })
    ctx.raw({ text, debug: [text] })
    if (!reply.ok) throw new Error('it said ' + text)
    return { access_token: 'at', token_type: 'bearer', refresh_token: null, state: null }
  }`

let host: TestHost
let origin: string
let seen: Seen[]
beforeAll(async () => {
  const upstream = await startUpstream((request, response) => {
    const { body } = upstream.seen.at(-1) as { body: string }
    const [, mode = ''] = (request.url ?? '').split(/[/?]/)
    const decoded = decodeURIComponent(body.replaceAll('+', ' '))
    const pair = Buffer.from(String(request.headers.authorization).slice(6), 'base64')
    const echo = [body, decoded, request.url, request.headers.authorization, pair].join(' ')
    const answer = MODES[mode]
    if (answer === undefined) throw new Error(`there is no mode ${mode}`)
    const { status, headers, body: text } = answer(echo)
    const type = { 'content-type': 'application/json' }
    response.writeHead(status, { ...type, ...(headers as object) } as never).end(text)
  })
  ;({ origin, seen } = upstream)
  const declared = (oauth: object) => ({
    'connector.json': JSON.stringify({
      id: 'x',
      version: '1.0.0',
      runtime: '^1.0.0',
      authentication_schema: { kind: 'oauth' },
      settings: { base_url: { type: 'string', format: 'url', required: true } },
      egress: [{ url: '{settings.base_url}' }],
      capabilities: { list_accounts: {} },
      oauth: { token_url: '{settings.base_url}', ...FLOWS, ...oauth },
    }),
    'connector.ts': code('list_accounts: () => [],'),
  })
  const named = (id: string, oauth: object) => {
    const files = declared(oauth)
    return { ...files, 'connector.json': files['connector.json'].replace('"x"', `"${id}"`) }
  }
  const off = { handle_authorization_callback: false, refresh_access_token: false }
  const own = JSON.parse(named('own', { capabilities: off })['connector.json'])
  own.capabilities = {
    list_accounts: {},
    handle_authorization_callback: {},
    refresh_access_token: {},
  }
  const clear = [...Object.keys(LONG).filter((name) => name !== 'code'), 'redirect_uri_with_code']
  own.clear_secrets = clear.map((name) => ({ field: `request.${name}`, because: 'it asks itself' }))
  host = await startHost({
    env: {
      KEYWAY_CLEAR_SECRETS: clear.map((name) => `own=request.${name}`).join(' '),
      KEYWAY_PRIVATE_EGRESS: ['post', 'basic', 'query', 'own']
        .map((id) => `${id}=${new URL(origin).host}`)
        .join(' '),
    },
    connectors: {
      post: named('post', {}),
      basic: named('basic', { client_authentication: 'CLIENT_SECRET_BASIC' }),
      query: named('query', { request: { method: 'GET', data: 'QUERY' } }),
      own: {
        'connector.json': JSON.stringify(own),
        'connector.ts': code(
          `list_accounts: () => [],
           handle_authorization_callback: ({ client_secret, redirect_uri_with_code, code_verifier }: any, ctx: any) =>
             ask({ client_secret, code: new URL(redirect_uri_with_code).searchParams.get('code')!, code_verifier }, ctx),
           refresh_access_token: ({ client_secret, refresh_token }: any, ctx: any) =>
             ask({ client_secret, refresh_token }, ctx),`,
          OWN,
        ),
      },
    },
  })
  for (const id of ['post', 'basic', 'query', 'own']) await host.served(id, '1.0.0')
})
afterAll(async () => {
  await host?.stop()
  await stopAll()
})

const requestsOf = ({
  client_secret,
  code: given,
  code_verifier,
  refresh_token,
}: typeof SHORT) => ({
  handle_authorization_callback: {
    client_id: 'the-client',
    client_secret,
    redirect_uri_with_code: `https://app.example/cb?state=s&code=${encodeURIComponent(given)}`,
    code_verifier,
  },
  refresh_access_token: { client_id: 'the-client', client_secret, refresh_token },
})

/** All encodings of a secret that may occur in output. */
const written = (secret: string) => {
  const form = new URLSearchParams([['', secret]]).toString().slice(1)
  const base64 = [secret, `the-client:${form}`].map((text) =>
    Buffer.from(text).toString('base64').replace(/=+$/, ''),
  )
  return [secret, encodeURIComponent(secret), form, ...base64]
}

/** Kinds of replies that no output contains, because the runtime refuses them in its own words. */
const withheldFrom = (id: string) => (id === 'own' ? ['redirect'] : ['garbled', 'another'])

describe.each(['post', 'basic', 'query', 'own'])('secrets in requests by %s', (id) => {
  describe.each([
    ['short', SHORT],
    ['long', LONG],
  ])('that are %s', (_name, secrets) => {
    test.each(Object.keys(MODES))('do not leak through a reply of the kind %s', async (mode) => {
      const before = host.lines.length
      const told: string[] = []
      for (const [capability, request] of Object.entries(requestsOf(secrets))) {
        const settings = { base_url: `${origin}/${mode}` }
        const envelope = { settings, request, include_raw_data: true }
        const asked = seen.length
        const { body } = await host.call(id, capability, envelope)
        told.push(JSON.stringify(body))
        expect(seen).toHaveLength(asked + 1)
        if (!withheldFrom(id).includes(mode)) expect(told.at(-1)).toContain('[secret]')
      }
      const { text } = await host.send('/operator/calls?limit=2', {
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      })
      told.push(text, ...host.lines.slice(before))
      for (const secret of Object.values(secrets).flatMap(written))
        expect(told.filter((one) => one.includes(secret))).toEqual([])
    })
  })
})
