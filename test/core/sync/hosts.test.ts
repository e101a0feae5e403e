/** Several hosts share the sync runs of one database, while connectors change. */
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { waiting } from '../../../runtime/core/sync/job.ts'
import { until } from '../../e2e/until.ts'
import { fixture } from '../../fixtures/folders.ts'
import { openTestDatabase, type TestDatabase } from '../../kit/databases.ts'
import { type CoreHost, startCore } from '../host.ts'
import {
  accountsOf,
  associationsOf,
  connect,
  deleteApps,
  ended,
  environment,
  latestRun,
  trigger,
} from './synced.ts'
import { account, association, entitlement, startUpstream, type Upstream } from './upstream.ts'

const ids = Array.from({ length: 50 }, (_, n) => `a${String(n).padStart(2, '0')}`)

let folder: string
let upstream: Upstream
let database: TestDatabase
let hosts: CoreHost[]

const start = async () => {
  const env = {
    ...environment(upstream, path.join(folder, 'plugins')),
    DATABASE_URL: database.url,
    KEYWAY_DROP_IN: 'open',
  }
  // A turn is shorter here than the usual minute; everything else about turns is unchanged.
  const core = await startCore(env, { pace: { turnMs: 200 } })
  await core.host.settled
  return core
}

/** Writes the connector's next version, without some of its capabilities. */
function version(number: string, without: string[] = []): void {
  const file = path.join(folder, 'plugins', 'synced', 'connector.json')
  const manifest = JSON.parse(readFileSync(path.join(fixture('synced'), 'connector.json'), 'utf8'))
  for (const name of without) delete manifest.capabilities[name]
  const code = readFileSync(path.join(fixture('synced'), 'connector.ts'), 'utf8')
  const lines = code
    .split('\n')
    .filter((line) => !without.some((name) => line.includes(`  ${name}:`)))
  writeFileSync(path.join(folder, 'plugins', 'synced', 'connector.ts'), lines.join('\n'))
  writeFileSync(file, JSON.stringify({ ...manifest, version: number }))
}

const served = (core: CoreHost, number: string) =>
  until(`version ${number} is served`, () => core.host.registry.find('synced')?.version === number)

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'keyway-syncs-'))
  cpSync(fixture('synced'), path.join(folder, 'plugins', 'synced'), { recursive: true })
  upstream = await startUpstream()
  database = await openTestDatabase()
  hosts = [await start(), await start()]
})
afterAll(async () => {
  for (const core of hosts) await core.stop()
  await database.drop()
  await upstream.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
})
beforeEach(async () => {
  const [one] = hosts as [CoreHost]
  await deleteApps(one)
  upstream.before = () => undefined
  upstream.restarting.clear()
  upstream.holds = {
    accounts: ids.map((id) => account(id)),
    resources: [],
    entitlements: [entitlement('g0')],
    associations: ids.map((id) => association(id, 'g0')),
    activity: [],
  }
})

async function prepared(core: CoreHost, tenant = ''): Promise<string> {
  const appId = await connect(core, { baseUrl: upstream.baseUrl + tenant })
  const settings = { page_size: 5 }
  await core.call('PUT', `/operator/apps/${appId}/sync`, { body: { settings } })
  return appId
}

test('a run that one host leaves is finished by the other', async () => {
  const [one, two] = hosts as [CoreHost, CoreHost]
  const appId = await prepared(one)
  const asked = Promise.withResolvers<void>()
  const held = Promise.withResolvers<undefined>()
  upstream.before = (kind, cursor) => {
    if (kind !== 'accounts' || cursor !== '20') return undefined
    asked.resolve()
    return held.promise
  }
  await trigger(one, appId)
  await asked.promise
  // Either host may have the run.
  await one.stop()
  hosts = [two]
  held.resolve(undefined)
  const run = await ended(two, appId)
  expect([run.state, run.counts['accounts'], run.counts['associations']]).toEqual([
    'SUCCEEDED',
    50,
    50,
  ])
  expect(await associationsOf(two, appId)).toHaveLength(50)
  hosts = [two, await start()]
})

test('every app keeps getting turns if there are more endless syncs than slots', async () => {
  const [one] = hosts as [CoreHost]
  upstream.restarting.add('accounts')
  const appIds: string[] = []
  for (let n = 0; n < 6; n += 1) {
    const appId = await prepared(one, `/tenant-${n}`)
    const settings = { max_repeated_percent: 100 }
    await one.call('PUT', `/operator/apps/${appId}/sync`, { body: { settings } })
    appIds.push(appId)
  }
  for (const appId of appIds) await trigger(one, appId)
  const turns = new Map(appIds.map((appId) => [appId, new Set<string>()]))
  await until('each run has been leased three times', async () => {
    for (const appId of appIds) {
      const { leaseBy, state } = await latestRun(one, appId)
      expect(state).toBe('RUNNING')
      if (leaseBy) turns.get(appId)?.add(leaseBy)
    }
    return [...turns.values()].every(({ size }) => size >= 3)
  })
  // No app had many more turns than the others.
  const most = Math.max(...[...turns.values()].map(({ size }) => size))
  expect(most).toBeLessThanOrEqual(12)
  for (const appId of appIds) {
    const { id } = await latestRun(one, appId)
    expect((await one.call('POST', `/operator/syncs/${id}/cancel`, { body: {} })).status).toBe(200)
  }
})

test('of hundreds of waiting syncs, those that have waited longest are next', async () => {
  const [one] = hosts as [CoreHost]
  class RolledBack extends Error {}
  const looked = one.db.transaction(async (tx) => {
    await tx.execute(sql`
      with made as (
        insert into apps (domain_id, app_class_id, instance_id, name)
        select domains.id, 'synced', n::text, 'app ' || n from domains, generate_series(1, 200) n
        returning id, domain_id, name
      )
      insert into sync_runs (app_id, domain_id, page_size, updated_at)
      select id, domain_id, 100,
        now() - ((substr(name, 5)::int * 7919) % 200) * interval '1 minute' from made`)
    const { rows } = await tx.execute<{ id: string }>(
      sql`select app_id as id from sync_runs where state = 'RUNNING' order by updated_at limit 50`,
    )
    expect(await waiting(tx)).toEqual(rows.map(({ id }) => id))
    throw new RolledBack()
  })
  await expect(looked).rejects.toThrow(RolledBack)
})

test('a listing is finished by the new version if its connector is upgraded midway', async () => {
  const [one, two] = hosts as [CoreHost, CoreHost]
  const appId = await prepared(one)
  await trigger(one, appId)
  await ended(one, appId)
  upstream.holds.accounts.splice(3, 2)
  const asked = Promise.withResolvers<void>()
  const held = Promise.withResolvers<undefined>()
  upstream.before = (kind, cursor) => {
    if (kind !== 'accounts' || cursor !== '20') return undefined
    asked.resolve()
    return held.promise
  }
  await trigger(one, appId)
  await asked.promise
  version('1.1.0', ['get_account', 'list_resources'])
  for (const core of [one, two]) await served(core, '1.1.0')
  upstream.before = () => undefined
  held.resolve(undefined)
  const run = await ended(two, appId)
  expect([run.state, run.problem, run.skipped]).toEqual(['SUCCEEDED', null, ['resources']])
  // Without get_account their status cannot be looked up; all that is known is that they left the listing.
  expect((await accountsOf(two, appId)).slice(3, 5)).toMatchObject([
    { id: 'a03', status: 'ACCESS_REMOVED', gone: true },
    { id: 'a04', status: 'ACCESS_REMOVED', gone: true },
  ])
})

test('a connector without list_accounts cannot be synced', async () => {
  const [one] = hosts as [CoreHost]
  version('1.2.0', ['list_accounts'])
  for (const core of hosts) await served(core, '1.2.0')
  const appId = await prepared(one)
  const { status, body } = await trigger(one, appId)
  expect([status, body.detail]).toEqual([501, 'The connector synced cannot list accounts'])
  await expect(latestRun(one, appId)).rejects.toThrow('never synced')
})
