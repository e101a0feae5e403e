/** Revocations by the operator end running calls, in every state. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ADMIN_TOKEN, type CoreHost, startCore } from '../../core/host.ts'
import { until } from '../../e2e/until.ts'
import { operator } from './operator.ts'
import { casesFor, packaged, publisher } from './packaging.ts'

let core: CoreHost
let op: ReturnType<typeof operator>
let upstream: Server
let origin: string
/** Paths of unanswered requests. A path is removed when its connection closes. */
const open: string[] = []
/** Answers all of them, and all later ones. */
let answer: () => void
let gate: Promise<void>

beforeAll(async () => {
  upstream = createServer(async (request, reply) => {
    const { url = '' } = request
    open.push(url)
    reply.on('close', () => open.splice(open.indexOf(url), 1))
    if (url.startsWith('/held')) await gate
    reply.setHeader('content-type', 'application/json')
    reply.end('{"tenant":"t-1","access_token":"a-token"}')
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(upstream.address() as AddressInfo).port}`
  origin = `http://${host}`
  core = await startCore({ KEYWAY_PRIVATE_EGRESS: `acme=${host} other=${host}` })
  op = operator(core)
})
afterAll(async () => {
  await core.stop()
  upstream.closeAllConnections()
  upstream.close()
})
beforeEach(async () => {
  const held = Promise.withResolvers<void>()
  gate = held.promise
  answer = held.resolve
  for (const id of ['acme', 'other']) await op.call('DELETE', `/connectors/${id}`)
})

const code = (at: string) => `
import { defineConnector } from 'keyway/sdk'
export default defineConnector({
  async validate_credentials(_input, context) {
    const reply = await context.fetch('${at}/held/validate')
    return { valid: true, unique_tenant_id: (await reply.json()).tenant }
  },
  async get_last_activity({ account_ids }, context) {
    await context.fetch('${at}/held/activity')
    while (account_ids[0] === 'forever') {}
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
      validate_credentials: { upstream: [upstreamOf('validate')] },
      get_last_activity: {
        request: { account_ids: ['one'] },
        upstream: [upstreamOf('activity')],
      },
    }),
  )
const upstreamOf = (name: string) => ({
  request: `GET /held/${name}`,
  reply: { status: 200, body: { tenant: 't-1' } },
})

const ACTIVITY = `
import { defineConnector } from 'keyway/sdk'
export default defineConnector({
  async get_last_activity() {
    return []
  },
})
`

const validate = (id = 'acme') => op.ask(id, 'validate_credentials')
const activity = (accountId: string) =>
  op.ask('acme', 'get_last_activity', { request: { account_ids: [accountId] } })
const untilOpen = (...paths: string[]) =>
  until(`${paths} are open`, () => open.toSorted().join() === paths.toSorted().join())

/** The error code with which a call ends. */
const endOf = async (call: ReturnType<typeof validate>) => (await call).body.error?.error_code

test('disabling at once ends a call with an unanswered request; calls of other connectors go on', async () => {
  await op.install(await made())
  await op.install(await made({ id: 'other' }))
  const calls = [validate(), activity('one')]
  const others = validate('other')
  await untilOpen('/held/validate', '/held/activity', '/held/validate')
  await op.call('POST', '/connectors/acme/disable', { at_once: true })
  expect(await Promise.all(calls.map(endOf))).toEqual(['not_found', 'not_found'])
  await untilOpen('/held/validate')
  answer()
  expect((await others).body.response).toMatchObject({ valid: true })
  await op.call('POST', '/connectors/acme/enable', {})
  expect((await validate()).body.response).toMatchObject({ valid: true })
})

test('disabling at once ends a call that arrived by the fast path', async () => {
  await op.install(await made())
  // This test needs only the requests that the front answers itself.
  const server = createServer((_request, reply) => reply.writeHead(500).end('{}'))
  const front = core.host.interceptConnections(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const send = async () => {
    const reply = await fetch(`http://127.0.0.1:${port}/connectors/acme/validate_credentials`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ request: {}, auth: { token: { token: 'a-token' } }, settings: {} }),
    })
    return { body: JSON.parse(await reply.text()) }
  }
  try {
    // The general path loads the code.
    const first = send()
    await untilOpen('/held/validate')
    const second = send()
    await untilOpen('/held/validate', '/held/validate')
    await op.call('POST', '/connectors/acme/disable', { at_once: true })
    for (const call of [first, second])
      expect((await call).body.error?.error_code).toBe('not_found')
    await untilOpen()
  } finally {
    front.stop()
    server.closeAllConnections()
    server.close()
  }
})

test('disabling at once ends a call that only computes', async () => {
  answer()
  await op.install(await made())
  const call = activity('forever')
  await until('the call computes', () =>
    core.host.lanes.states().some(({ calls, isolates }) => calls === 1 && isolates > 0),
  )
  await until('its request has ended', () => open.length === 0)
  await op.call('POST', '/connectors/acme/disable', { at_once: true })
  expect(await endOf(call)).toBe('not_found')
  await until('its isolate is disposed', () =>
    core.host.lanes.states().every(({ calls, isolates }) => calls + isolates === 0),
  )
  await op.call('POST', '/connectors/acme/enable', {})
  expect((await validate()).body.response).toMatchObject({ valid: true })
})

test('disabling for new calls only lets a running call complete', async () => {
  await op.install(await made())
  const call = validate()
  await untilOpen('/held/validate')
  await op.call('POST', '/connectors/acme/disable', {})
  answer()
  expect((await call).body.response).toMatchObject({ valid: true })
})

test('revoking a capability ends its calls, and no calls of another capability', async () => {
  await op.install(await made())
  const [call, kept] = [validate(), activity('one')]
  await untilOpen('/held/validate', '/held/activity')
  await op.call('POST', '/connectors/acme/revoke', { wants: ['capability validate_credentials'] })
  expect(await endOf(call)).toBe('permission_denied')
  await untilOpen('/held/activity')
  answer()
  expect((await kept).body.response).toEqual([])
})

const ONE_BY_ONE = { limits: { concurrency: 1 } }
const untilWaiting = (count: number) =>
  until('the calls wait for their turn', async () => {
    const reply = await core.host.app.request('/metrics', { headers: { host: 'localhost' } })
    return (await reply.text()).includes(`keyway_calls_waiting{for="turn"} ${count}`)
  })

test('revoking a capability ends its waiting call, but not the running call of another capability', async () => {
  await op.install(await made(ONE_BY_ONE))
  const runs = validate()
  await untilOpen('/held/validate')
  const waits = activity('one')
  await untilWaiting(1)
  await op.call('POST', '/connectors/acme/revoke', { wants: ['capability get_last_activity'] })
  expect(await endOf(waits)).toBe('permission_denied')
  await untilOpen('/held/validate')
  answer()
  expect((await runs).body.response).toMatchObject({ valid: true })
})

test('removing a connector ends running and waiting calls; once it is installed again, it serves calls', async () => {
  const folder = await made(ONE_BY_ONE)
  await op.install(folder)
  const runs = validate()
  await untilOpen('/held/validate')
  const waits = activity('one')
  await untilWaiting(1)
  await op.call('DELETE', '/connectors/acme')
  expect([await endOf(runs), await endOf(waits)]).toEqual(['not_found', 'not_found'])
  await untilOpen()
  await op.install(folder)
  answer()
  expect((await activity('one')).body.response).toEqual([])
})

test('revoking a host ends the requests to it', async () => {
  await op.install(await made())
  const call = validate()
  await untilOpen('/held/validate')
  await op.call('POST', '/connectors/acme/revoke', { wants: [`egress ${origin}`] })
  expect(await endOf(call)).toBe('permission_denied')
  await untilOpen()
})

test('distrusting a key ends the calls of connectors that it signed', async () => {
  await op.trustPublisher()
  await op.install(await made())
  const call = validate()
  await untilOpen('/held/validate')
  await op.call('DELETE', `/publishers/${publisher.id}`)
  expect(await endOf(call)).toBe('not_found')
  await untilOpen()
  await op.trustPublisher()
})

test('disabling on one host ends a call that runs on another', async () => {
  await op.install(await made())
  const second = await startCore({
    DATABASE_URL: await core.url(),
    KEYWAY_INSTALL: 'any',
    KEYWAY_PRIVATE_EGRESS: `acme=${new URL(origin).host}`,
  })
  try {
    await until('the second host serves the connector', () => second.host.registry.find('acme'))
    const call = operator(second).ask('acme', 'validate_credentials')
    await untilOpen('/held/validate')
    await op.call('POST', '/connectors/acme/disable', { at_once: true })
    expect(await endOf(call)).toBe('not_found')
    await untilOpen()
  } finally {
    await second.stop()
  }
})

const CLIENT = { client_id: 'client', client_secret: 'a-client-secret', scopes: [] }

test('disabling at once ends a capability that the host itself performs', async () => {
  const capabilities = { get_last_activity: {} }
  const oauth = {
    flow: 'CLIENT_CREDENTIALS',
    token_url: `${origin}/held/token`,
    client_authentication: 'CLIENT_SECRET_POST',
  }
  await op.install(
    await packaged(
      {
        capabilities,
        egress: [],
        authentication_schema: { kind: 'oauth_client_credentials' },
        oauth,
      },
      ACTIVITY,
      casesFor(capabilities, {
        get_last_activity: {
          auth: { oauth_client_credentials: { ...CLIENT, access_token: 'a-token-of-a-case' } },
          request: { account_ids: ['one'] },
        },
      }),
    ),
  )
  const call = op.ask('acme', 'handle_client_credentials_request', {
    auth: null,
    request: CLIENT,
  })
  await untilOpen('/held/token')
  await op.call('POST', '/connectors/acme/disable', { at_once: true })
  expect(await endOf(call)).toBe('not_found')
  await untilOpen()
})
