/** Due requests are found although many others wait for their next attempt. */
import { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { pairKey } from '../../../runtime/core/provisioning/pair.ts'
import { REQUEST_JOB } from '../../../runtime/core/requests/job.ts'
import type { Database } from '../../../runtime/database/database.ts'
import { openJobs } from '../../../runtime/database/jobs.ts'
import { openDatabase } from '../../../runtime/database/open.ts'
import { apps } from '../../../runtime/database/schema/apps.ts'
import { users } from '../../../runtime/database/schema/people.ts'
import { accessRequests } from '../../../runtime/database/schema/requests.ts'
import { openTestDatabase, type TestDatabase } from '../../kit/databases.ts'

/** More than `due` returns at once. */
const WAITING = 150
const QUEUE = 'access-requests'

let made: TestDatabase
let database: Database

beforeAll(async () => {
  made = await openTestDatabase()
  database = await openDatabase({ connectionString: made.url }, () => {})
})
afterAll(async () => {
  await database.close()
  await made.drop()
})

it('the list of due requests leaves out those whose job is already queued, however many they are', async () => {
  const { db, domainId } = database
  const [app] = await db
    .insert(apps)
    .values({ domainId, appClassId: 'slow', instanceId: 'x', name: 'Slow' })
    .returning()
  const people = await db
    .insert(users)
    .values(
      Array.from({ length: WAITING + 1 }, (_, n) => ({ domainId, email: `${n}@acme.example` })),
    )
    .returning()
  const id = app?.id ?? ''
  const requests = await db
    .insert(accessRequests)
    .values(
      people.map((one, n) => ({
        domainId,
        appId: id,
        carriedAppId: id,
        targetUserId: one.id,
        status: 'PENDING_DEPROVISIONING' as const,
        plan: { manager: false, stages: [], message: null, validationWebhook: null },
        pendingOperation: 'remove' as const,
        fulfilment: 'connector' as const,
        wakeAt: new Date(Date.UTC(2020, 0, 1, 0, 0, n)),
      })),
    )
    .returning()
  const jobs = openJobs(database)
  jobs.on('error', () => {})
  await jobs.start()
  try {
    await jobs.createQueue(QUEUE, { policy: 'exclusive' })
    const keys = requests.sort((a, b) => Number(a.wakeAt) - Number(b.wakeAt)).map(pairKey)
    for (const key of keys.slice(0, WAITING))
      await jobs.send(QUEUE, { queue: QUEUE, key }, { singletonKey: key, startAfter: 3600 })
    expect(await REQUEST_JOB.due(db)).toEqual(keys.slice(WAITING))
  } finally {
    await jobs.stop({ graceful: false })
  }
})

it('counting the requests in one state reads less than a quarter of the pages of the status index', async () => {
  const owner = new Client(made.login)
  await owner.connect()
  // Vacuum marks pages as all-visible only once the commits are on disk; the test server commits
  // asynchronously.
  await owner.query('set synchronous_commit = on')
  await owner.query(`
    insert into access_requests (domain_id, app_id, carried_app_id, requester_id, target_user_id, status, plan, created_at)
    select one.domain_id, app_id, carried_app_id, requester_id, target_user_id, 'COMPLETED', plan, now() - n * interval '1 s'
    from (select * from access_requests limit 1) one, generate_series(1, 20000) n`)
  await owner.query('vacuum analyze access_requests')
  const asked =
    "select count(*) from access_requests where domain_id = $1 and status in ('COMPLETED')"
  const { rows } = await owner.query(`explain (analyze, buffers, format json) ${asked}`, [
    database.domainId,
  ])
  const plan = rows[0]['QUERY PLAN'][0].Plan
  const read = plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
  const pages = await owner.query(
    "select pg_relation_size('access_requests_status') / current_setting('block_size')::int as n",
  )
  await owner.end()
  expect(read).toBeLessThan(Number(pages.rows[0].n) / 4)
})
