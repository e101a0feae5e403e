/** Tests the connector interface as a caller sees it: discovery, documents, envelopes, tokens. */

import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixture, greeter, withToken } from '../fixtures/folders.ts'
import type { Sent } from './client.ts'
import { startHost, success, type TestHost } from './host.ts'
import { AT, credentials, envelope, expectFine, json, post, settings } from './several.ts'

let host: TestHost

beforeAll(async () => {
  host = await startHost({
    connectors: { several: fixture('several'), greeter: greeter('greeter', 'hello') },
  })
})
afterAll(async () => {
  await host?.stop()
})

const jsonOf = async (at: string, sent?: Sent) => JSON.parse((await host.send(at, sent)).text)

describe('discovery', () => {
  test.each(['GET', 'POST'])('lists the ids in both spellings with %s', async (method) => {
    for (const spelling of ['list-connector-app-ids', 'list_connector_app_ids']) {
      const { response } = await jsonOf(`/connectors/${spelling}`, { method })
      expect(response).toEqual(expect.arrayContaining(['greeter', 'scim', 'several-parts']))
    }
  })

  test('describes a connector, by GET and by POST, with and without a body', async () => {
    const at = '/connectors/several-parts/info'
    const got = await jsonOf(at)
    expect(got.response).toMatchObject({
      app_id: 'several-parts',
      version: '2.3.4',
      capabilities: ['app_info', 'create_account', 'get_account', 'list_accounts'],
      authentication_schema: {},
      credentials_schema: [{ id: 'api' }, { id: 'admin', 'x-optional': true }],
      request_settings_schema: { required: ['host'] },
    })
    expect(await jsonOf(at, { method: 'POST' })).toEqual(got)
    expect(await jsonOf(at, { method: 'POST', headers: json, body: '{"request":{}}' })).toEqual(got)
  })

  test.each([
    ['several-parts', 'app_info'],
    ['several_parts', 'app_info'],
    ['several-parts', 'app-info'],
    ['several_parts', 'app-info'],
  ])('returns the connector’s own document at %s/%s', async (id, name) => {
    const { response } = JSON.parse(
      (await post(host, `/connectors/${id}/${name}`, '{"request":{}}')).text,
    )
    expect(response.app_id).toBe('several-parts')
    const { valid, errors } = await new Validator().validate(response.app_schema)
    expect(errors ?? []).toEqual([])
    expect(valid).toBe(true)
  })

  test.each([
    ['several-parts', 'get_account'],
    ['several_parts', 'get-account'],
  ])('calls a capability at %s/%s', async (id, name) => {
    const { body, headers } = await host.call(id, name, envelope)
    expect(success(body)).toMatchObject({ integration_specific_id: 'a-1' })
    expect(headers['x-keyway-connector']).toBe('several-parts@2.3.4')
  })
})

describe('documents', () => {
  test('describe the interface in valid OpenAPI', async () => {
    const document = await jsonOf('/openapi.json')
    const { valid, errors } = await new Validator().validate(document)
    expect(errors ?? []).toEqual([])
    expect(valid).toBe(true)
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '0.0.0' } })
  })

  test.each(['/docs', '/docs/api'])(
    'are shown at %s with assets from the same origin only',
    async (at) => {
      const { text, headers } = await host.send(at)
      expect(headers['content-security-policy']).toContain("default-src 'none'")
      const assets = [
        ...text.matchAll(/<(?:link|script|img|iframe)\b[^>]*?(?:href|src)="([^"]*)"/g),
      ]
      expect(assets.length).toBeGreaterThan(0)
      for (const [, address = ''] of assets) {
        expect(address).not.toMatch(/^\/\/|:/)
        const asset = await host.send(new URL(address, `http://x${at}`).pathname)
        expect(asset.status).toBe(200)
        expect(asset.text).not.toMatch(/url\(|@import|https?:/)
      }
    },
  )

  test.each([
    '/docs',
    '/docs/api',
    '/docs/style.css',
    '/docs.css',
    '/openapi.json',
    '/schemas/connector.json',
    '/schemas/connector.cases.json',
  ])(
    'are compressed at %s if accepted, and answered with 304 if the client has them',
    async (at) => {
      const plain = await fetch(host.url + at, { headers: { 'accept-encoding': 'identity' } })
      const text = await plain.text()
      const tags = new Set([plain.headers.get('etag')])
      for (const coding of ['gzip', 'br']) {
        const headers = { 'accept-encoding': `${coding}, deflate;q=0.5` }
        const reply = await fetch(host.url + at, { headers })
        expect(reply.headers.get('content-encoding')).toBe(coding)
        expect(Number(reply.headers.get('content-length'))).toBeLessThan(text.length / 2)
        expect(await reply.text()).toBe(text)
        const tag = reply.headers.get('etag') ?? ''
        tags.add(tag)
        const again = await fetch(host.url + at, { headers: { ...headers, 'if-none-match': tag } })
        expect([again.status, await again.text()]).toEqual([304, ''])
        const other = await fetch(host.url + at, {
          headers: { ...headers, 'if-none-match': '"x"' },
        })
        expect(other.status).toBe(200)
        await other.arrayBuffer()
      }
      expect(tags.size).toBe(3)
    },
  )

  test('include the schema of connector.json', async () => {
    expect(await jsonOf('/schemas/connector.json')).toMatchObject({ type: 'object' })
  })
})

describe('operating', () => {
  test('reports that it is alive and ready', async () => {
    expect(await jsonOf('/healthz')).toEqual({ status: 'ok' })
    expect(await jsonOf('/readyz')).toMatchObject({ ready: true, waiting_for: [] })
  })

  test('counts calls in its metrics', async () => {
    await expectFine(host)
    const { text, headers } = await host.send('/metrics')
    expect(headers['content-type']).toMatch(/^text\/plain/)
    expect(text).toMatch(
      /keyway_calls_total\{connector="several-parts",capability="get_account",code="ok",cause="interface"\} \d+/,
    )
  })

  test('requires its token for /operator', async () => {
    for (const headers of [
      {},
      { authorization: 'Bearer wrong' },
      { authorization: 'Basic eDp5' },
    ]) {
      const { status, text } = await host.send('/operator/connectors', { headers })
      expect(status).toBe(401)
      expect(JSON.parse(text).error.error_code).toBe('unauthenticated')
    }
    expect((await host.send('/operator/nothing')).status).toBe(401)
    expect((await host.operator()).length).toBeGreaterThan(2)
  })

  test("returns the caller's request id, or creates one", async () => {
    const idOf = async (headers: Sent['headers'] = {}) =>
      (await host.send('/healthz', { headers })).headers['x-request-id']
    expect(await idOf({ 'x-request-id': 'caller.id-1_2' })).toBe('caller.id-1_2')
    expect(await idOf({ 'x-request-id': 'not an id' })).toMatch(/^[0-9a-f-]{36}$/)
    expect(await idOf({ 'x-request-id': 'x'.repeat(101) })).toMatch(/^[0-9a-f-]{36}$/)
    expect(await idOf()).toMatch(/^[0-9a-f-]{36}$/)
    const { headers } = await host.call('nobody', 'x', {}, { 'x-request-id': 'failing' })
    expect(headers['x-request-id']).toBe('failing')
  })
})

test('each answer of a capability names the version that handled it, including errors', async () => {
  const servedBy = async (id: string, capability: string, body: object) =>
    (await host.call(id, capability, body)).headers['x-keyway-connector']
  expect(await servedBy('several-parts', 'get_account', envelope)).toBe('several-parts@2.3.4')
  expect(await servedBy('several_parts', 'get_account', {})).toBe('several-parts@2.3.4')
  expect(await servedBy('several-parts', 'do_magic', envelope)).toBe('several-parts@2.3.4')
  expect(await servedBy('nobody', 'get_account', envelope)).toBeUndefined()
})

describe('an envelope', () => {
  test('may have null for every optional member', async () => {
    const { body } = await host.call('several-parts', 'get_account', {
      auth: null,
      credentials: [{ ...credentials[0], basic: null, oauth: null }],
      settings: { ...settings, region: null, rows: null, archived: null, base_url: null },
      page: null,
      include_raw_data: null,
      request: { account_id: 'a-1', custom_attributes: null },
    })
    expect(success(body)).toMatchObject({
      extra_data: {
        request: { account_id: 'a-1' },
        settings: { host: 'api.example.com', region: 'eu' },
        credentials: ['api'],
        page: { cursor: null, size: null },
      },
    })
  })

  test('is answered with null for every missing member', async () => {
    const { body } = await host.call('greeter', 'list_accounts', withToken())
    expect(body).toEqual({
      response: [
        {
          integration_specific_id: 'hello',
          email: null,
          given_name: null,
          family_name: null,
          username: null,
          user_status: null,
          extra_data: null,
          custom_attributes: null,
          account_type: null,
        },
      ],
      raw_data: null,
      page: null,
    })
  })

  test('is answered with raw data only if it asks for it', async () => {
    const call = async (asked: unknown) =>
      (await host.call('several-parts', 'get_account', { ...envelope, include_raw_data: asked }))
        .body.raw_data
    expect(await call(true)).toEqual({ asked: 'a-1' })
    expect(await call(false)).toBeNull()
    expect(await call(null)).toBeNull()
  })

  test('may contain unknown members, including __proto__', async () => {
    const text = `{"credentials":${JSON.stringify(credentials)},"settings":{"host":"a.example","__proto__":{"rows":7}},
      "request":{"account_id":"a-1","__proto__":{"custom_attributes":["x"]},"more":1},"__proto__":{"include_raw_data":true},"later":{}}`
    const { response, raw_data } = JSON.parse((await post(host, AT, text)).text)
    expect(raw_data).toBeNull()
    expect(response.extra_data.request).toEqual({ account_id: 'a-1' })
    expect(response.extra_data.settings).toEqual({ host: 'a.example', region: 'eu' })
    expect(({} as Record<string, unknown>)['rows']).toBeUndefined()
  })
})

/**
 * Bodies and headers of calls. Each is sent twice: with its length, which takes the fast path, and in chunks.
 */
const WAYS: Record<string, { at?: string; body: string | Buffer; headers?: Sent['headers'] }> = {
  'a valid call': { body: JSON.stringify(envelope) },
  'a call that requests raw data': {
    body: JSON.stringify({ ...envelope, include_raw_data: true }),
  },
  'a call with its own request id': {
    body: JSON.stringify(envelope),
    headers: { 'x-request-id': 'my-own-id' },
  },
  'a call with a byte order mark': { body: `\uFEFF${JSON.stringify(envelope)}` },
  'a call with null for omitted members': {
    body: JSON.stringify({ ...envelope, page: null, auth: null, include_raw_data: null }),
  },
  'a call with unknown members': {
    body: `{"credentials":${JSON.stringify(credentials)},"settings":{"host":"a.example","x":1},"request":{"account_id":"a-1","__proto__":{"a":1}},"later":[]}`,
  },
  'a repeated call with deep nesting in an unknown member': {
    body: `${JSON.stringify(envelope).slice(0, -1)},"later":${'['.repeat(100)}${']'.repeat(100)}}`,
  },
  'a call with members in another order': {
    body: JSON.stringify({ request: envelope.request, settings, credentials }),
  },
  'a call with a size of its first page': {
    at: 'list_accounts',
    body: JSON.stringify({ ...envelope, request: {}, page: { size: 3 } }),
  },
  'a first page': { at: 'list_accounts', body: JSON.stringify({ ...envelope, request: {} }) },
  'the other spelling': { at: 'list-accounts', body: JSON.stringify({ ...envelope, request: {} }) },
  'an invalid page token': {
    body: JSON.stringify({ ...envelope, page: { token: 'x', size: null } }),
  },
  'a page of size 0': { body: JSON.stringify({ ...envelope, page: { token: null, size: 0 } }) },
  'a body that is not JSON': { body: '{"request":' },
  'a body that is not UTF-8': { body: Buffer.from([0x7b, 0xff, 0x7d]) },
  'a body that is nested too deeply': { body: `${'['.repeat(500)}${']'.repeat(500)}` },
  'too many values': { body: `{"request":{"a":[${'1,'.repeat(70_000)}1]}}` },
  'an array for the request': { body: JSON.stringify({ ...envelope, request: [] }) },
  'a number for the account': {
    body: JSON.stringify({ ...envelope, request: { account_id: 7 } }),
  },
  'no credentials': { body: JSON.stringify({ ...envelope, credentials: null }) },
  'an undeclared credential': {
    body: JSON.stringify({ ...envelope, credentials: [{ id: 'x', token: { token: 'y' } }] }),
  },
  'invalid settings': { body: JSON.stringify({ ...envelope, settings: { host: 3 } }) },
  'a capability that the connector lacks': { at: 'list_resources', body: JSON.stringify(envelope) },
  'an unknown capability': { at: 'do_magic', body: JSON.stringify(envelope) },
  'another media type': {
    body: JSON.stringify(envelope),
    headers: { 'content-type': 'text/plain' },
  },
  'a foreign Host header': {
    body: JSON.stringify(envelope),
    headers: { host: 'evil.example' },
  },
}

describe('the fast path and the general path give the same answer to', () => {
  /** Removes what differs between calls. */
  const bare = ({ status, headers, text }: Awaited<ReturnType<TestHost['send']>>) => {
    const { date: _date, 'x-request-id': id, ...rest } = headers
    const shown = text.replaceAll(String(id), 'ID').replace(/"token":"[^"]{20,}"/, '"token":"…"')
    return { status, headers: rest, text: shown, ownId: id === 'my-own-id' }
  }

  test.each(Object.entries(WAYS))('%s', async (_name, { at = 'get_account', body, headers }) => {
    const path = `/connectors/several-parts/${at}`
    // The first call of a version always takes the general path.
    await expectFine(host)
    const short = await post(host, path, body, { ...json, ...headers })
    const long = await post(host, path, [body], { ...json, ...headers })
    expect(bare(short)).toEqual(bare(long))
  })
})

describe('with a connector token', () => {
  const token = 'connector-token-0123456789-0123456789'
  let guarded: TestHost

  beforeAll(async () => {
    guarded = await startHost({
      env: { KEYWAY_CONNECTOR_TOKEN: token, KEYWAY_ALLOWED_HOSTS: 'keyway.internal' },
      connectors: { greeter: greeter('greeter', 'hello') },
    })
  })
  afterAll(async () => {
    await guarded?.stop()
  })

  test('every route of the interface requires it', async () => {
    for (const [at, method] of [
      ['/connectors/greeter/list_accounts', 'POST'],
      ['/connectors/greeter/info', 'GET'],
      ['/connectors/nobody/info', 'GET'],
      ['/connectors/list-connector-app-ids', 'GET'],
      ['/metrics', 'GET'],
    ] as const) {
      for (const authorization of ['', 'Bearer no', `Basic ${token}`, `Bearer ${token}x`]) {
        const headers = { ...json, ...(authorization ? { authorization } : {}) }
        const received = await guarded.send(at, { method, headers })
        expect([at, received.status]).toEqual([at, 401])
        expect(received.headers['www-authenticate']).toMatch(/^Bearer/)
        expect(JSON.parse(received.text).error.error_code).toBe('unauthenticated')
      }
    }
  })

  test('calls succeed with it, and health checks without it', async () => {
    expect(
      success((await guarded.call('greeter', 'list_accounts', withToken())).body),
    ).toHaveLength(1)
    expect((await guarded.send('/healthz')).status).toBe(200)
    expect((await guarded.send('/readyz')).status).toBe(200)
  })

  test('further host names from KEYWAY_ALLOWED_HOSTS are accepted', async () => {
    for (const host of ['keyway.internal', 'KEYWAY.internal:8080'])
      expect((await guarded.send('/healthz', { headers: { host } })).status).toBe(200)
  })
})
