/** Changes and failures while a request is being processed. */
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { requestablePermissions } from '../../../../runtime/database/schema/app_store.ts'
import { users } from '../../../../runtime/database/schema/people.ts'
import { killDatabase } from '../../../database/kill.ts'
import { until } from '../../../e2e/until.ts'
import { type CoreHost, person } from '../../host.ts'
import type { Company } from '../company.ts'
import { type BadCompany, startBadCompany } from './bad-company.ts'
import type { BadSystem, End } from './bad-system.ts'

let bad: BadCompany
let system: BadSystem
let core: CoreHost
let acme: Company
let appId: string
let permission: string

beforeAll(async () => {
  // Reads show a write after a delay, within the consistency_ms of the connector.
  bad = await startBadCompany({ consistencyMs: 3000, showsAfterMs: 700 }, { server: 'own' })
  ;({ system, core, acme } = bad)
  appId = await acme.connected(system.app)
  permission = await newPermission('group')
})
afterAll(() => bad.stop())
beforeEach(() => system.behave(() => 'well'))

const newPermission = (entitlementId: string) => acme.group(appId, entitlementId, entitlementId)

async function approved(expiration_in_seconds?: number) {
  return bad.approved({
    ...{ app_id: appId, requestable_permission_ids: [permission] },
    ...(expiration_in_seconds === undefined ? {} : { expiration_in_seconds }),
  })
}

const holds = (email: string, what = 'group') =>
  system.accountsOf(email).some(([id]) => system.held.has(`${id} ${what}`))

/** Blocks the next call of a capability before it takes effect, until it is released. */
function holdCall(name: Parameters<BadSystem['once']>[0]) {
  const { promise, resolve } = Promise.withResolvers<End>()
  const before = system.count(name)
  system.once(name, promise)
  return {
    called: () => until(`${name} is called`, () => system.count(name) > before),
    release: (end: End = 'well') => resolve(end),
  }
}

/** Waits until a request has no pending work. */
const untilNoPendingWork = (id: string) =>
  until('the request has no pending work', async () => {
    const { rows } = await core.db.execute(
      sql`select from access_requests where id = ${id} and todo is null`,
    )
    return rows.length === 1
  })

it.each(['create_account', 'assign_entitlement'] as const)(
  'a request that is cancelled during %s leaves no access behind',
  async (name) => {
    const held = holdCall(name)
    const { id, email } = await approved()
    await held.called()
    expect((await core.call('DELETE', `/appstore/access_requests/${id}`)).status).toBe(204)
    held.release()
    await untilNoPendingWork(id)
    expect(await acme.statusOf(id)).toBe('CANCELLED')
    expect(holds(email)).toBe(false)
  },
)

it('a request whose app is disconnected says so, asks people, and completes after it is reconnected', async () => {
  const held = holdCall('assign_entitlement')
  const { id } = await approved()
  await held.called()
  await core.db.execute(sql`update apps set disconnected_at = now() where id = ${appId}`)
  held.release('before')
  await until('the request reports the disconnected app', async () => {
    const { rows } = await core.db.execute(
      sql`select problem from access_requests where id = ${id}`,
    )
    return /is disconnected; reconnect it/.test(String(rows[0]?.['problem']))
  })
  await until('the request has a manual task', async () => {
    const { rows } = await core.db.execute(
      sql`select description from tasks where app_id = ${appId} and status = 'PENDING'`,
    )
    return rows.some(({ description }) => /is disconnected; reconnect it/.test(String(description)))
  })
  await core.db.execute(sql`update apps set disconnected_at = null where id = ${appId}`)
  await acme.reachesSoon(id, 'COMPLETED')
})

it('a request that is woken while a try is refused is tried again at once', async () => {
  const held = holdCall('assign_entitlement')
  const { id, email } = await approved()
  await held.called()
  // As the retry of its task does, when people were asked meanwhile.
  await core.db.execute(
    sql`update access_requests set wake_at = now(), attempts = 0, failing_since = null where id = ${id}`,
  )
  held.release('refused')
  // The pause after a refusal is a minute.
  await until('the access is granted', () => holds(email), 45_000)
  await acme.reachesSoon(id, 'COMPLETED')
})

it('a permission that is deleted while it is granted is still taken back when its time is over', async () => {
  const own = permission
  permission = await newPermission('short-lived')
  const held = holdCall('assign_entitlement')
  const { id, email } = await approved(3)
  await held.called()
  await core.db.delete(requestablePermissions).where(eq(requestablePermissions.id, permission))
  held.release()
  permission = own
  await acme.reaches(id, 'TIME_BASED_EXPIRED')
  expect(holds(email, 'short-lived')).toBe(false)
})

it('a request can be denied after its target has become inactive', async () => {
  const who = await person(core.db, 'leaver@acme.example')
  const id = await acme.asked(who, { app_id: appId, requestable_permission_ids: [permission] })
  await core.db.update(users).set({ status: 'INACTIVE' }).where(eq(users.id, who.id))
  await acme.settle(id, 'dismiss')
  expect(await acme.statusOf(id)).toBe('DENIED')
})

it('requests complete once although database connections are cut under load', async () => {
  const asked = await Promise.all(Array.from({ length: 10 }, () => approved()))
  for (let n = 0; n < 5; n += 1) {
    await core.db
      .execute(
        sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'keyway' and pid <> pg_backend_pid()`,
      )
      .catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  for (const { id } of asked) await acme.reachesSoon(id, 'COMPLETED')
  for (const { email } of asked) {
    expect(system.accountsOf(email)).toHaveLength(1)
    expect(holds(email)).toBe(true)
  }
})

it('requests complete once although the database server is killed under load', async () => {
  const asked = await Promise.all(Array.from({ length: 6 }, () => approved()))
  killDatabase(core.host.databasePid())
  await until('the host reaches the database again', () =>
    core.db.execute(sql`select 1`).then(
      () => true,
      () => false,
    ),
  )
  for (const { id } of asked) await acme.reaches(id, 'COMPLETED')
  for (const { email } of asked) expect(system.accountsOf(email)).toHaveLength(1)
})
