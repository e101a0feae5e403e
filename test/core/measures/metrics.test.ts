/** The metrics of a real host about its records, its disk and its core interface. */
import { spawnSync } from 'node:child_process'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { METRICS } from '../../../runtime/contract/endpoints/metrics.ts'
import { readMeasures } from '../../../runtime/core/measures/measures.ts'
import { noteBackup } from '../../../runtime/database/backup/backup-record.ts'
import { appOutages } from '../../../runtime/database/schema/apps.ts'
import { accessRequests } from '../../../runtime/database/schema/requests.ts'
import { syncRuns, syncSettings } from '../../../runtime/database/schema/sync.ts'
import { PROMTOOL } from '../../promtool.ts'
import { app, type CoreHost, domainOf, person, startCore } from '../host.ts'

let core: CoreHost
let domainId: string

beforeAll(async () => {
  core = await startCore({}, { server: 'own' })
  domainId = await domainOf(core.db)
})
afterAll(() => core.stop())

async function metrics(): Promise<string> {
  const reply = await core.host.app.request('/metrics', { headers: { host: 'localhost' } })
  return reply.text()
}

const readNow = () =>
  readMeasures(core.db, { domainId, connectors: core.host.parts.connectors }, (measure, error) => {
    throw new Error(measure, { cause: error })
  })

const ago = (seconds: number): Date => new Date(Date.now() - seconds * 1000)

async function request(values: Partial<typeof accessRequests.$inferInsert>): Promise<string> {
  const { id: targetUserId } = await person(core.db, `${Math.random()}@acme.example`)
  const appId = await app(core.db, `App ${Math.random()}`)
  const plan = { manager: false, stages: [], message: null, validationWebhook: null }
  const base = { domainId, appId, carriedAppId: appId, targetUserId, plan }
  const [row] = await core.db
    .insert(accessRequests)
    .values({ ...base, status: 'COMPLETED', ...values })
    .returning()
  return row?.id ?? ''
}

type Row = { labels: Record<string, string>; value: number }
const valueIn = (rows: readonly Row[] | undefined, labels: Record<string, string>) =>
  rows?.find((row) => Object.entries(labels).every(([name, one]) => row.labels[name] === one))
    ?.value

// A wake time in the future keeps background work from processing rows during the test.
const later = new Date(Date.now() + 3_600_000)

test('keyway_removal_oldest_seconds shows the oldest overdue access, by who has to remove it', async () => {
  expect((await readNow()).keyway_removal_oldest_seconds).toEqual([
    { labels: { by: 'host' }, value: 0 },
    { labels: { by: 'people' }, value: 0 },
  ])
  await request({
    status: 'REVERTING',
    pendingOperation: 'remove',
    failingSince: ago(500),
    wakeAt: later,
  })
  // Not expired yet, so not overdue.
  await request({ expiresAt: later, wakeAt: later })
  let oldest = (await readNow()).keyway_removal_oldest_seconds
  expect(valueIn(oldest, { by: 'host' })).toBeGreaterThanOrEqual(500)
  expect(valueIn(oldest, { by: 'host' })).toBeLessThan(5000)
  // Expired before its removal first failed: it is overdue since it expired.
  const expired = { expiresAt: ago(9000), failingSince: ago(100), wakeAt: later }
  await request({
    status: 'PENDING_DEPROVISIONING',
    pendingOperation: 'remove',
    attempts: 3,
    ...expired,
  })
  await request({
    status: 'PENDING_MANUAL_DEPROVISIONING',
    expiresAt: ago(90_000),
    wakeAt: later,
  })
  const read = await readNow()
  oldest = read.keyway_removal_oldest_seconds
  expect(valueIn(oldest, { by: 'host' })).toBeGreaterThanOrEqual(9000)
  expect(valueIn(oldest, { by: 'host' })).toBeLessThan(80_000)
  expect(valueIn(oldest, { by: 'people' })).toBeGreaterThanOrEqual(90_000)
  expect(valueIn(read.keyway_access_requests, { state: 'PENDING_DEPROVISIONING' })).toBe(1)
  expect(valueIn(read.keyway_access_requests, { state: 'PENDING_APPROVAL' })).toBe(0)
  expect(valueIn(read.keyway_access_requests, { state: 'COMPLETED' })).toBe(undefined)
  expect(valueIn(read.keyway_access_requests_failing, { todo: 'remove' })).toBe(2)
})

test('expired access is overdue even if its removal has not started', async () => {
  // In a transaction that is rolled back, so that the host's background work does not see it.
  await core.db
    .transaction(async (tx) => {
      const id = await request({ expiresAt: later, wakeAt: later })
      const expiresAt = ago(1_000_000)
      const over = { expiresAt, wakeAt: expiresAt }
      await tx.update(accessRequests).set(over).where(eq(accessRequests.id, id))
      const read = await readMeasures(
        tx,
        { domainId, connectors: core.host.parts.connectors },
        (_measure, error) => {
          throw error
        },
      )
      expect(valueIn(read.keyway_removal_oldest_seconds, { by: 'host' })).toBeGreaterThanOrEqual(
        1_000_000,
      )
      throw new Error('roll back')
    })
    .catch((error) => {
      if (error.message !== 'roll back') throw error
    })
})

test('each app has the state of its syncs and the duration of its outage', async () => {
  const connected = { connectorId: 'scim', sealedConnection: Buffer.from('sealed') }
  const good = await app(core.db, 'Good', { ...connected, createdAt: ago(1_000_000) })
  const never = await app(core.db, 'Never', { ...connected, createdAt: ago(5000) })
  const byHand = await app(core.db, 'By hand', connected)
  const custom = await app(core.db, 'Custom')
  const gone = await app(core.db, 'Gone', { ...connected, disconnectedAt: ago(10) })
  const run = { domainId, pageSize: 10 }
  await core.db.insert(syncRuns).values([
    { ...run, appId: good, state: 'SUCCEEDED', endedAt: ago(7000) },
    { ...run, appId: good, state: 'FAILED', endedAt: ago(100) },
  ])
  await core.db.insert(syncSettings).values([
    { domainId, appId: good, everyHours: 6, nextAt: later },
    { domainId, appId: never, everyHours: 1, nextAt: later },
    { domainId, appId: byHand, everyHours: 0 },
  ])
  const outage = { domainId, until: later, code: 'service_error', problem: 'down' } as const
  await core.db.insert(appOutages).values({ ...outage, appId: good, since: ago(4000) })

  const read = await readNow()
  const of = (rows: readonly Row[] | undefined, app_id: string) => valueIn(rows, { app_id })
  const stateOf = (app_id: string) =>
    read.keyway_sync_state?.find(({ labels }) => labels.app_id === app_id)?.labels
  expect(stateOf(good)).toEqual({ app_id: good, connector: 'scim', state: 'FAILED' })
  expect(stateOf(never)).toMatchObject({ state: 'NEVER' })
  expect(stateOf(custom)).toBe(undefined)
  expect(stateOf(gone)).toBe(undefined)
  const success = of(read.keyway_sync_last_success_timestamp_seconds, good) ?? 0
  expect(Math.abs(success - ago(7000).getTime() / 1000)).toBeLessThan(1000)
  expect(of(read.keyway_sync_last_success_timestamp_seconds, never)).toBe(undefined)
  expect(of(read.keyway_sync_behind_seconds, good)).toBeGreaterThanOrEqual(7000)
  expect(of(read.keyway_sync_behind_seconds, good)).toBeLessThan(50_000)
  expect(of(read.keyway_sync_behind_seconds, never)).toBeGreaterThanOrEqual(5000)
  expect(of(read.keyway_sync_interval_seconds, good)).toBe(6 * 3600)
  expect(of(read.keyway_sync_interval_seconds, byHand)).toBe(undefined)
  expect(read.keyway_apps_paused).toEqual([{ labels: {}, value: 1 }])
  expect(of(read.keyway_app_paused_seconds, good)).toBeGreaterThanOrEqual(4000)
})

test('keyway_job_oldest_due_seconds shows the oldest due job of each queue', async () => {
  await core.db
    .transaction(async (tx) => {
      await tx.execute(sql`insert into jobs.job (name, policy, singleton_key, start_after)
        values ('uploads', 'exclusive', 'nobody', now() - interval '2 hours')`)
      await tx.execute(sql`insert into jobs.job (name, policy, singleton_key, start_after)
        values ('syncs', 'exclusive', 'tomorrow', now() + interval '2 hours')`)
      const read = await readMeasures(
        tx,
        { domainId, connectors: core.host.parts.connectors },
        (_measure, error) => {
          throw error
        },
      )
      const rows = read.keyway_job_oldest_due_seconds
      expect(valueIn(rows, { queue: 'uploads' })).toBeGreaterThanOrEqual(7200)
      expect(valueIn(rows, { queue: 'syncs' })).toBeLessThan(7200)
      throw new Error('roll back')
    })
    .catch((error) => {
      if (error.message !== 'roll back') throw error
    })
})

test('the queries for pending removals and for the oldest job can use an index', async () => {
  const plan = await core.db.transaction(async (tx) => {
    await tx.execute(sql`set local enable_seqscan = off`)
    const { rows } = await tx.execute<{ 'QUERY PLAN': string }>(
      sql`explain select expires_at from access_requests where todo = 'remove' order by expires_at limit 10`,
    )
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  })
  expect(plan).toContain('access_requests_todo')
  // On a table of a few rows the planner may choose any index, so look at the definition.
  const { rows } = await core.db.execute<{ indexdef: string }>(
    sql`select indexdef from pg_indexes where schemaname = 'jobs' and tablename like 'job%'`,
  )
  const found = rows.map(({ indexdef }) => indexdef).join('\n')
  expect(found).toMatch(
    /\(name, priority DESC, created_on, start_after\) WHERE \(\(state < 'active'.*NOT blocked/,
  )
})

test('no one waits for a database connection once the host is idle', () =>
  vi.waitFor(async () =>
    expect(await metrics()).toMatch(/^keyway_database_connections\{state="waiting"\} 0$/m),
  ))

test('the page contains every metric, and no names of people or messages of systems', async () => {
  expect((await core.call('GET', '/users/current')).status).toBe(200)
  expect((await core.call('GET', '/apps/nothing')).status).toBe(404)
  await noteBackup(core.dataDir, { complete_until: '2026-01-02T03:04:05.000Z', bytes: 1 })
  const text = await metrics()
  for (const name of Object.keys(METRICS)) expect(text).toContain(`# TYPE ${name} `)
  expect(text).toMatch(/^keyway_database_up 1$/m)
  expect(text).toMatch(/^keyway_ready 1$/m)
  expect(text).toMatch(/^keyway_clock_offset_seconds -?0\.?\d*(e-\d+)?$/m)
  expect(text).toMatch(/^keyway_database_connections\{state="waiting"\} \d+$/m)
  expect(text).toMatch(
    /^keyway_core_requests_total\{endpoint="\w+",class="2xx",status="200"\} \d+$/m,
  )
  expect(text).toMatch(
    /^keyway_core_requests_total\{endpoint="\w+",class="4xx",status="404"\} \d+$/m,
  )
  for (const place of ['data', 'database']) {
    const free = Number(
      new RegExp(`^keyway_disk_free_bytes\\{place="${place}"\\} (.*)$`, 'm').exec(text)?.[1],
    )
    const size = Number(
      new RegExp(`^keyway_disk_size_bytes\\{place="${place}"\\} (.*)$`, 'm').exec(text)?.[1],
    )
    expect(free).toBeGreaterThan(0)
    expect(size).toBeGreaterThanOrEqual(free)
  }
  expect(text).toMatch(/^keyway_last_backup_timestamp_seconds \d+$/m)
  // Names of people and messages of systems must not appear.
  expect(text).not.toMatch(/acme\.example|down|sealed/)
})

test.skipIf(PROMTOOL === null)('promtool accepts the page', async () => {
  const { status, stdout, stderr } = spawnSync(PROMTOOL as string, ['check', 'metrics'], {
    input: await metrics(),
    encoding: 'utf8',
  })
  expect(status, stdout + stderr).toBe(0)
})
