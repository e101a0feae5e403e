import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type CoreHost, startCore } from '../../core/host.ts'
import { until } from '../../e2e/until.ts'
import { operator } from './operator.ts'
import { casesFor, packaged } from './packaging.ts'

let core: CoreHost
let op: ReturnType<typeof operator>
let upstream: Server
let origin: string
/** Requests wait here while it is closed. */
let gate: Promise<void> = Promise.resolve()
let asked = () => {}

beforeAll(async () => {
  upstream = createServer(async (request, reply) => {
    asked()
    await gate
    if (request.url === '/third') reply.statusCode = 401
    reply.setHeader('content-type', 'application/json')
    reply.end('{"tenant":"t-1"}')
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(upstream.address() as AddressInfo).port}`
  origin = `http://${host}`
  core = await startCore({ KEYWAY_PRIVATE_EGRESS: `acme=${host}` })
  op = operator(core)
})
afterAll(async () => {
  await core.stop()
  upstream.closeAllConnections()
  upstream.close()
})
afterEach(() => op.call('DELETE', '/connectors/acme'))

/** Sends two requests to its upstream, one after the other. */
const code = (at: string) => `
import { ConnectorError, defineConnector } from 'keyway/sdk'
export default defineConnector({
  async validate_credentials(_input, context) {
    await context.fetch('${at}/first')
    const reply = await context.fetch('${at}/second')
    if (!reply.ok) throw new ConnectorError('unauthenticated', 'The token is refused')
    return { valid: true, unique_tenant_id: (await reply.json()).tenant }
  },
  async get_last_activity() {
    return []
  },
})
`
const CAPABILITIES = { validate_credentials: {}, get_last_activity: {} }

const made = (more: object = {}) =>
  packaged(
    { capabilities: CAPABILITIES, egress: [{ url: origin, methods: ['GET'] }], ...more },
    code(origin),
    casesFor(CAPABILITIES, {
      validate_credentials: {
        upstream: ['first', 'second'].map((path) => ({
          request: `GET /${path}`,
          reply: { status: 200, body: { tenant: 't-1' } },
        })),
      },
      get_last_activity: { request: { account_ids: [] } },
    }),
  )

const validate = () => op.ask('acme', 'validate_credentials')

test('a revoked grant stops the next call with a message, and a new grant allows it again', async () => {
  await op.install(await made(), { reason: 'for sales' })
  expect((await validate()).body.response).toMatchObject({ valid: true })
  const { body: shown } = await op.call('GET', '/connectors/acme')
  expect(shown.withheld).toEqual([])
  expect(shown.grants[0]).toMatchObject({ granted_by: 'admin@localhost', reason: 'for sales' })

  const revoked = await op.call('POST', '/connectors/acme/revoke', { wants: [`egress ${origin}`] })
  expect(revoked.body.difference).toEqual([
    `acme: may no longer send GET to ${origin} (for get_last_activity, validate_credentials)`,
  ])
  expect((await validate()).body.error).toMatchObject({ error_code: 'permission_denied' })
  const { body: after } = await op.call('GET', '/connectors/acme')
  expect(after.withheld).toHaveLength(2)

  await op.call('POST', '/connectors/acme/grant', { wants: [`egress ${origin}`] })
  expect((await validate()).body.response).toMatchObject({ valid: true })
})

test('a revoked grant stops a running call at its next request', async () => {
  await op.install(await made())
  const held = Promise.withResolvers<void>()
  const first = Promise.withResolvers<void>()
  gate = held.promise
  asked = first.resolve
  const call = validate()
  await first.promise
  await op.call('POST', '/connectors/acme/revoke', { wants: 'all' })
  held.resolve()
  expect((await call).body.error).toMatchObject({ error_code: 'permission_denied' })
})

test('a revoked capability is no longer offered', async () => {
  await op.install(await made())
  await op.call('POST', '/connectors/acme/revoke', { wants: ['capability validate_credentials'] })
  expect((await validate()).body.error.error_code).toBe('not_implemented')
  const { body } = await op.ask('acme', 'info')
  expect(body.response.capabilities).not.toContain('validate_credentials')
})

test('disabling a connector at once ends a running call', async () => {
  await op.install(await made())
  const held = Promise.withResolvers<void>()
  const first = Promise.withResolvers<void>()
  gate = held.promise
  asked = first.resolve
  const call = validate()
  await first.promise
  await op.call('POST', '/connectors/acme/disable', { at_once: true })
  held.resolve()
  expect((await call).body.is_error).toBe(true)
})

test('a call that waits for its turn does not start after its connector is disabled at once', async () => {
  await op.install(await made({ limits: { concurrency: 1 } }))
  const held = Promise.withResolvers<void>()
  const first = Promise.withResolvers<void>()
  gate = held.promise
  asked = first.resolve
  const call = validate()
  await first.promise
  const waits = op.ask('acme', 'get_last_activity', { request: { account_ids: [] } })
  await until('the call waits for its turn', async () => {
    const reply = await core.host.app.request('/metrics', { headers: { host: 'localhost' } })
    return /^keyway_calls_waiting\{for="turn"\} 1/m.test(await reply.text())
  })
  await op.call('POST', '/connectors/acme/disable', { at_once: true })
  held.resolve()
  await call
  expect((await waits).body.error).toMatchObject({ error_code: 'not_found' })
})

test('an unknown selection is refused with a list of what exists', async () => {
  await op.install(await made())
  for (const verb of ['grant', 'revoke']) {
    const { status, body } = await op.call('POST', `/connectors/acme/${verb}`, {
      wants: ['egress https://elsewhere.example'],
    })
    expect([status, body.error.message]).toEqual([
      404,
      expect.stringMatching(
        /nothing there is called "egress https:\/\/elsewhere.*capability validate/,
      ),
    ])
  }
})

test('a new version is tried with the credentials of the probe before it serves calls', async () => {
  await op.install(await made())
  const probe = { auth: { token: { token: 'probe-token' } }, settings: {} }
  expect((await op.call('PUT', '/connectors/acme/probe', probe)).body).toEqual({ probe: true })
  const text = JSON.stringify((await op.call('GET', '/connectors/acme')).body)
  expect(text).toContain('"probe":true')
  expect(text).not.toContain('probe-token')

  const broken = await packaged(
    { version: '1.1.0', capabilities: CAPABILITIES, egress: [{ url: origin, methods: ['GET'] }] },
    code(origin).replace('/second', '/third'),
    casesFor(CAPABILITIES, {
      validate_credentials: {
        upstream: ['first', 'third'].map((path) => ({
          request: `GET /${path}`,
          reply: { status: 200, body: { tenant: 't-1' } },
        })),
      },
      get_last_activity: { request: { account_ids: [] } },
    }),
  )
  expect((await op.upload(broken)).status).toBe(201)
  // The upstream answers differently than in its cases.
  const { status, body } = await op.activate(broken)
  expect([status, body.error.message]).toEqual([
    409,
    expect.stringMatching(/acme 1\.1\.0 was tried .*validate_credentials with the probe/),
  ])
  const tried = await op.call('GET', '/calls?cause=trial:acme@1.1.0')
  expect(tried.body.items).toMatchObject([{ capability: 'validate_credentials', app_id: null }])
  expect((await validate()).headers.get('x-keyway-connector')).toBe('acme@1.0.0')
  expect((await op.call('DELETE', '/connectors/acme/probe')).body).toEqual({ probe: false })
  expect((await op.activate(broken)).status).toBe(200)
})
