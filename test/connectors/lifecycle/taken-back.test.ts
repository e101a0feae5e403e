import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CoreHost, startCore } from '../../core/host.ts'
import { operator } from './operator.ts'
import { casesFor, packaged } from './packaging.ts'

let core: CoreHost
let op: ReturnType<typeof operator>
let upstream: Server
let origin: string
let gate: Promise<void> = Promise.resolve()
let asked: (path: string) => void = () => {}

beforeAll(async () => {
  upstream = createServer(async (request, reply) => {
    asked(request.url ?? '')
    if (request.url === '/first') await gate
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

const code = (at: string) => `
import { defineConnector } from 'keyway/sdk'
export default defineConnector({
  async validate_credentials(_input, context) {
    await context.fetch('${at}/first')
    const reply = await context.fetch('${at}/second')
    return { valid: true, unique_tenant_id: (await reply.json()).tenant }
  },
  async get_last_activity() {
    return []
  },
})
`

test('a call whose capability is revoked does not continue with the egress of its login', async () => {
  const capabilities = {
    validate_credentials: { egress: [{ url: origin, methods: ['GET'] }] },
    get_last_activity: { egress: [] },
  }
  const made = await packaged(
    {
      capabilities,
      egress: [{ url: origin }],
      exchange: {
        request: { method: 'POST', url: `${origin}/login`, json: { key: '{auth.token.token}' } },
        capture: { json: '/tenant' },
        use: { header: 'authorization' },
      },
    },
    code(origin),
    casesFor(capabilities, {
      validate_credentials: {
        upstream: ['POST /login', 'GET /first', 'GET /second'].map((request) => ({
          request,
          reply: { status: 200, body: { tenant: 't-1' } },
        })),
      },
      get_last_activity: { request: { account_ids: [] } },
    }),
  )
  await op.install(made)
  const held = Promise.withResolvers<void>()
  const first = Promise.withResolvers<void>()
  const paths: string[] = []
  gate = held.promise
  asked = (path) => {
    paths.push(path)
    if (path === '/first') first.resolve()
  }
  const call = op.ask('acme', 'validate_credentials')
  await first.promise
  await op.call('POST', '/connectors/acme/revoke', { wants: ['capability validate_credentials'] })
  held.resolve()
  expect((await call).body.error).toMatchObject({ error_code: 'permission_denied' })
  expect(paths).toEqual(['/login', '/first'])
})

test('a new version is tried even if the connector is disabled at once', async () => {
  gate = Promise.resolve()
  const capabilities = { validate_credentials: {}, get_last_activity: {} }
  const made = (id: string, version: string) =>
    packaged(
      { id, version, capabilities, egress: [{ url: origin, methods: ['GET'] }] },
      code(origin),
      casesFor(capabilities, {
        validate_credentials: {
          upstream: ['GET /first', 'GET /second'].map((request) => ({
            request,
            reply: { status: 200, body: { tenant: 't-1' } },
          })),
        },
        get_last_activity: { request: { account_ids: [] } },
      }),
    )
  await op.call('DELETE', '/connectors/acme')
  await op.install(await made('acme', '2.0.0'))
  await op.call('PUT', '/connectors/acme/probe', { auth: { token: { token: 'a-probe-token' } } })
  await op.call('POST', '/connectors/acme/disable', { at_once: true })
  const next = await made('acme', '2.1.0')
  await op.upload(next)
  expect(await op.activate(next)).toMatchObject({ status: 200, body: { changed: true } })
})

test('credentials of a probe are deleted with their connector', async () => {
  await op.call('DELETE', '/connectors/acme?dry_run=true')
  expect((await op.call('GET', '/connectors/acme')).body.probe).toBe(true)
  await op.call('DELETE', '/connectors/acme')
  await op.upload(await packaged())
  expect((await op.call('GET', '/connectors/acme')).body.probe).toBe(false)
})
