/** A policy over many people, with hosts that stop midway and hosts that share the work. */
import { count, sql } from 'drizzle-orm'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { usersChanged } from '../../../runtime/core/policies/changed.ts'
import { users } from '../../../runtime/database/schema/people.ts'
import { accessPolicies } from '../../../runtime/database/schema/policies.ts'
import { accessRequests } from '../../../runtime/database/schema/requests.ts'
import { until } from '../../e2e/until.ts'
import { openTestDatabase, type TestDatabase } from '../../kit/databases.ts'
import { app, type CoreHost, domainOf, startCore } from '../host.ts'
import { acme } from './acme.ts'

/** With `LONG=1` enough people for a sweep of several batches. */
const PEOPLE = process.env['LONG'] ? 600 : 120

let database: TestDatabase
let env: Record<string, string>
let host: CoreHost

beforeAll(async () => {
  database = await openTestDatabase()
  env = { DATABASE_URL: database.url }
  host = await startCore(env)
  await host.host.settled
  const domainId = await domainOf(host.db)
  await host.db.execute(sql`
    insert into users (domain_id, email, custom_attributes)
    select ${domainId}::uuid, 'many' || n || '@acme.example', '{"Department": {"type": "STRING", "value": "Many"}}'
    from generate_series(1, ${PEOPLE}::int) as n`)
})
afterAll(async () => {
  await host.stop()
  await database.drop()
})

const requests = async (): Promise<number> => {
  const [row] = await host.db.select({ n: count() }).from(accessRequests)
  return row?.n ?? 0
}

/** Ends every connection to the database except its own. */
async function killConnections(): Promise<void> {
  const client = new Client(database.login)
  await client.connect()
  await client.query(`
    select pg_terminate_backend(pid) from pg_stat_activity
    where pid <> pg_backend_pid() and datname = current_database()`)
  await client.end()
}

test('a sweep continues after a host stops midway, and makes no duplicate requests', async () => {
  const wiki = await app(host.db, 'Wiki')
  await acme(host).policy('Many', [{ id: wiki }])
  await until('the policy has created some requests', async () =>
    (await requests()) > 20 ? true : null,
  )
  // In the middle of transactions, as if the host were killed.
  await killConnections()
  const hasMoreRequests = async () => ((await requests()) > 60 ? true : null)
  // Connections of this test were ended as well.
  await until('the policy creates more requests', () => hasMoreRequests().catch(() => null))
  await host.stop()
  host = await startCore(env)
  const begun = await requests()
  expect(begun).toBeLessThan(PEOPLE)
  await host.host.settled
  const other = await startCore(env)
  await other.host.settled
  await acme(host).untilCompared()
  expect(await requests()).toBe(PEOPLE)
  const { rows } = await host.db.execute(
    sql`select target_user_id from access_requests group by 1 having count(*) > 1`,
  )
  expect(rows).toEqual([])
  const [policy] = await host.db.select().from(accessPolicies)
  expect(policy?.swept.users).toBeGreaterThanOrEqual(PEOPLE)
  await other.stop()
}, 180_000)

test('people who change all at once are all compared with the policy', async () => {
  const domainId = await domainOf(host.db)
  await host.db.transaction(async (tx) => {
    await tx.update(users).set({ status: 'INACTIVE' }).where(sql`email like 'many%'`)
    await usersChanged(tx, domainId, 'all', null)
  })
  await acme(host).untilCompared()
  const states = await host.db
    .selectDistinct({ status: accessRequests.status })
    .from(accessRequests)
  expect(states).toEqual([{ status: 'CANCELLED' }])
}, 180_000)
