/** `GET /operator/calls`: the list of calls, with the requests that each call sent. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CallRecord } from '../../../runtime/contract/endpoints/operator.ts'
import { type CoreHost, startCore } from '../../core/host.ts'
import { until } from '../../e2e/until.ts'
import { operator } from './operator.ts'
import { casesFor, LISTING, packaged } from './packaging.ts'

// A closed port on loopback: requests get no response.
const NOWHERE = '127.0.0.1:9'
const CODE = LISTING('1.0.0').replace(
  'const start =',
  `await context.fetch('http://${NOWHERE}/people?token=no').catch(() => context.log.warn('no answer'))
    const start =`,
)

let core: CoreHost
let op: ReturnType<typeof operator>

beforeAll(async () => {
  core = await startCore({ KEYWAY_PRIVATE_EGRESS: `acme=${NOWHERE}` })
  op = operator(core)
  const capabilities = { validate_credentials: {}, list_accounts: {} }
  const upstream = [{ request: 'GET /people?token=no', reply: { status: 200 } }]
  const cases = casesFor(capabilities, { list_accounts: { upstream } })
  const egress = [{ url: `http://${NOWHERE}` }]
  await op.install(await packaged({ egress, capabilities }, CODE, cases))
})
afterAll(() => core.stop())

test('a call is listed with the requests that it made and what it logged', async () => {
  await op.ask('acme', 'list_accounts')
  const { status, body } = await op.call('GET', '/calls?connector_id=acme')
  expect(status).toBe(200)
  expect(body.items).toEqual([
    expect.objectContaining({
      capability: 'list_accounts',
      outcome: 'ok',
      cause: { kind: 'interface', id: expect.any(String) },
      app_id: null,
      upstream: [
        {
          method: 'GET',
          host: NOWHERE,
          path: '/people',
          status: null,
          error: expect.any(String),
          sent_bytes: 0,
          query: '?token=…',
          received_bytes: 0,
          begin_ms: expect.any(Number),
          ms: expect.any(Number),
        },
      ],
      log: [{ level: 'warn', message: 'no answer' }],
    }),
  ])
})

test('a failed call is listed with the error that its caller received', async () => {
  const refused = await op.ask('acme', 'list_accounts', { page: { size: 'many' } })
  const { error_code, message } = refused.body.error
  const { body } = await op.call('GET', '/calls?connector_id=acme&limit=1')
  expect(body.items).toEqual([expect.objectContaining({ outcome: error_code, message })])
  expect(message).toContain('page')
  await op.ask('acme', 'list_accounts')
  const { body: later } = await op.call('GET', '/calls?connector_id=acme&limit=1')
  expect(later.items).toEqual([expect.objectContaining({ outcome: 'ok', message: null })])
})

test('calls of the core are listed with their cause, counted in the metrics, and logged', async () => {
  const listed = async (query: string): Promise<CallRecord[]> =>
    (await op.call('GET', `/calls?${query}`)).body.items
  const connected = await core.call('POST', '/apps', {
    body: { app_class_id: 'acme', auth: { token: 'a-tenants-token' } },
    headers: { 'x-request-id': 'connects-acme' },
  })
  expect(connected.status).toBe(200)
  const appId = connected.body.id
  expect(await listed('cause=request:connects-acme')).toEqual([
    expect.objectContaining({
      capability: 'validate_credentials',
      request_id: expect.stringMatching(/^connects-acme\./),
      app_id: null,
    }),
  ])

  await core.call('POST', `/apps/${appId}/sync`, { body: { sync_type: 'full_sync' } })
  const { body: runs } = await op.call('GET', `/syncs?app_id=${appId}`)
  const cause = { kind: 'sync', id: String(runs.items[0].run) }
  const pages = () => listed(`app_id=${appId}&cause=sync:${cause.id}`)
  const all = await until('the sync lists its pages', async () => {
    const found = await pages()
    return found.length >= 5 ? found : null
  })
  // Each page lists only its own requests.
  for (const page of all)
    expect(page).toMatchObject({ capability: 'list_accounts', outcome: 'ok', app_id: appId, cause })
  expect(all.map(({ upstream }) => upstream.length)).toEqual(all.map(() => 1))
  expect(new Set(all.map(({ request_id }) => request_id)).size).toBe(all.length)
  expect(await listed('cause=interface')).not.toEqual(
    expect.arrayContaining([expect.objectContaining({ app_id: appId })]),
  )

  const metrics = await (
    await core.host.app.request('/metrics', { headers: { host: 'localhost' } })
  ).text()
  expect(metrics).toMatch(
    /keyway_calls_total\{connector="acme",capability="list_accounts",code="ok",cause="sync"\} [5-9]/,
  )
  expect(metrics).toContain('capability="validate_credentials",code="ok",cause="request"')
  const lines = core.lines.map((line) => JSON.parse(line))
  expect(lines).toContainEqual(
    expect.objectContaining({ msg: 'a call ended', connector: 'acme', app_id: appId, cause }),
  )
})

test('an unknown cause is refused with a list of the known causes', async () => {
  const { status, body } = await op.call('GET', '/calls?cause=sinc:1')
  expect(status).toBe(422)
  expect(JSON.stringify(body)).toContain('access_request')
})
