/** The use of accounts, as reported by another source than their app. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accounts } from '../../../runtime/database/schema/apps.ts'
import { until } from '../../e2e/until.ts'
import { app, type CoreHost, domainOf, person, startCore } from '../host.ts'
import { lastEvents, NOBODY_ID } from '../store.ts'

let core: CoreHost
let acme: string
let tenant: string

beforeAll(async () => {
  core = await startCore()
  acme = await app(core.db, 'Acme')
  tenant = await app(core.db, 'Tenant', { instanceId: 'tenant-1' })
  const domainId = await domainOf(core.db)
  await core.db.insert(accounts).values([
    { domainId, appId: acme, uniqueIdentifier: 'u1', email: 'Ada@example.com' },
    { domainId, appId: acme, uniqueIdentifier: 'u2' },
    { domainId, appId: tenant, uniqueIdentifier: 'u1' },
  ])
})
afterAll(() => core.stop())

const record = (account: object, type: string, timestamp: string, more: object = {}) => ({
  account,
  event: { type },
  timestamp,
  source_app_id: acme,
  ...more,
})

async function send(records: object[]): Promise<void> {
  const taken = await core.call('POST', '/activity_records', { body: { records } })
  expect([taken.status, taken.body]).toEqual([
    200,
    { job: { job_id: expect.any(String), state: 'RUNNING' } },
  ])
  const path = `/activity_records/job/${taken.body.job.job_id}`
  await until(
    'the records are processed',
    async () => (await core.call('GET', path)).body.state === 'DONE',
  )
}

const used = async (appId: string) =>
  (await core.call('GET', `/accounts?app_id=${appId}`)).body.items.map(
    (one: Record<string, string | null>) => [
      one['unique_identifier'],
      one['last_login'],
      one['last_activity'],
    ],
  )

test('the latest use is stored, and later records of earlier use do not change it', async () => {
  await send([
    record({ external_id: 'u1' }, 'LOGIN', '2026-02-01T00:00:00Z'),
    record({ email: 'ada@EXAMPLE.com' }, 'LOGIN', '2026-03-01T00:00:00Z'),
    record({ external_id: 'u1' }, 'ACTIVITY', '2026-03-02T00:00:00Z'),
    record({ external_id: 'who' }, 'LOGIN', '2026-03-01T00:00:00Z'),
  ])
  expect(await lastEvents(core, 1)).toEqual([
    ['ACTIVITY_RECORDS_UPLOADED', { records: 4, changed_accounts: 1, ignored_records: 1 }],
  ])
  await send([record({ external_id: 'u1' }, 'LOGIN', '2026-01-01')])
  expect(await used(acme)).toEqual([
    ['u1', '2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'],
    ['u2', null, null],
  ])
})

test('a record that names an instance applies to the app of that instance', async () => {
  const named = { app: { instance_identifier: 'tenant-1' } }
  await send([
    record({ external_id: 'u1' }, 'LOGIN', '2026-05-01', named),
    record({ external_id: 'u2' }, 'LOGIN', '2026-05-01', { app: { instance_identifier: 'no' } }),
  ])
  expect(await used(tenant)).toEqual([['u1', '2026-05-01T00:00:00.000Z', null]])
  expect(await used(acme)).toContainEqual(['u2', null, null])
})

test('the id of a source app is case-insensitive', async () => {
  await send([
    record({ external_id: 'u2' }, 'LOGIN', '2026-04-01', { source_app_id: acme.toUpperCase() }),
  ])
  expect(await used(acme)).toContainEqual(['u2', '2026-04-01T00:00:00.000Z', null])
})

test('a timestamp in the future is stored as no later than now', async () => {
  await send([record({ external_id: 'u2' }, 'ACTIVITY', '2999-01-01')])
  const [, [, , at]] = await used(acme)
  expect(Date.parse(at)).toBeLessThanOrEqual(Date.now() + 60_000)
})

test('records without an account, with an unknown source or from a plain user are refused', async () => {
  const body = { records: [record({}, 'LOGIN', '2026-01-01')] }
  expect((await core.call('POST', '/activity_records', { body })).status).toBe(422)
  const elsewhere = { source_app_id: NOBODY_ID }
  const unknown = { records: [record({ external_id: 'a' }, 'LOGIN', '2026-01-01', elsewhere)] }
  expect((await core.call('POST', '/activity_records', { body: unknown })).status).toBe(404)
  const { token } = await person(core.db, 'bob@example.com')
  const known = { records: [record({ external_id: 'u1' }, 'LOGIN', '2026-01-01')] }
  expect((await core.call('POST', '/activity_records', { body: known, token })).status).toBe(403)
})

test('an empty upload is refused, also to a user without apps, and is not logged', async () => {
  const log = async () => (await core.call('GET', '/activity_logs?limit=1')).body.total
  const before = await log()
  const { token } = await person(core.db, 'no-apps@example.com')
  const body = { records: [] }
  expect((await core.call('POST', '/activity_records', { body, token })).status).toBe(403)
  const empty = await core.call('POST', '/activity_records', { body })
  expect([empty.status, empty.body.detail[0].loc]).toEqual([422, ['body', 'records']])
  expect(await log()).toBe(before)
})
