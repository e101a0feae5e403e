/** Syncs of apps and people that are changed at the same time. */
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RequestContext } from '../../../runtime/core/kernel/context/context.ts'
import { SYNC_JOB } from '../../../runtime/core/sync/job.ts'
import { NO_RETRY } from '../../../runtime/database/contention.ts'
import { apps } from '../../../runtime/database/schema/apps.ts'
import { userOffboardings } from '../../../runtime/database/schema/offboarding.ts'
import { users } from '../../../runtime/database/schema/people.ts'
import { syncRuns, syncSettings } from '../../../runtime/database/schema/sync.ts'
import { until } from '../../e2e/until.ts'
import { type CoreHost, domainOf } from '../host.ts'
import { countWaiting, meanwhile } from '../meanwhile.ts'
import { ask, connect, deleteApps, startSynced, sync } from './synced.ts'
import { account, startUpstream, type Upstream } from './upstream.ts'

let upstream: Upstream
let core: CoreHost

beforeAll(async () => {
  upstream = await startUpstream()
  core = await startSynced(upstream)
})
afterAll(async () => {
  await core.stop()
  await upstream.close()
})

const identity = { manager: null, groups: 'GROUP', attributes: { Department: 'department' } }
const configure = (appId: string, settings: object) =>
  core.call('PUT', `/operator/apps/${appId}/sync`, { body: { settings } })

test('a sync keeps attributes that are set at the same time, and records no event for them', async () => {
  const ada = (department: string) => account('ada', { custom_attributes: { department } })
  upstream.holds = { ...upstream.holds, accounts: [ada('Sales')] }
  const appId = await connect(core, upstream)
  expect((await configure(appId, { identity_source: identity })).status).toBe(200)
  await sync(core, appId)
  upstream.holds.accounts = [ada('Research')]
  const floor = { Floor: { type: 'TEXT', value: '4' } }
  const isAda = eq(users.email, 'ada@example.com')
  await meanwhile(
    core.db,
    (tx) =>
      tx
        .update(users)
        .set({ customAttributes: sql`custom_attributes || ${JSON.stringify(floor)}::jsonb` })
        .where(isAda),
    () => sync(core, appId),
  )
  const [row] = await core.db.select().from(users).where(isAda)
  expect(row?.customAttributes).toEqual({
    ...floor,
    Department: { type: 'TEXT', value: 'Research' },
  })
  const events = await ask(
    core,
    sql`select old_value, new_value from identity_events
      where user_id = ${row?.id} and changed_field = 'custom_attributes.Department' order by id`,
  )
  expect(events).toEqual([
    { old_value: null, new_value: 'Sales' },
    { old_value: 'Sales', new_value: 'Research' },
  ])
})

test('one of two apps becomes the identity source if both are configured at the same time', async () => {
  await core.db.update(syncSettings).set({ identity: null })
  const [first, second] = [await connect(core, other()), await connect(core, other())]
  const domainId = await domainOf(core.db)
  const reply = await meanwhile(
    core.db,
    (tx) => tx.insert(syncSettings).values({ appId: first, domainId, identity }),
    () => configure(second, { identity_source: identity }),
  )
  expect([reply.status, reply.body.error?.message]).toEqual([
    409,
    expect.stringMatching(/is the identity source/),
  ])
})

test('no sync starts for an app that is disconnected when its schedule is due', async () => {
  const appId = await connect(core, other())
  const connector = { manifest: { capabilities: { list_accounts: {} } } }
  // Cast: only the parts of a job's context that the start of a run needs.
  const parts = {
    ...{ connectors: { find: () => connector }, send: async () => undefined },
  } as unknown as RequestContext
  await meanwhile(
    core.db,
    async (tx) => {
      await tx
        .update(apps)
        .set({ disconnectedAt: new Date(), sealedConnection: null, syncStatus: null })
        .where(eq(apps.id, appId))
      // The schedule is due.
      await core.db.execute(sql`insert into sync_settings (app_id, domain_id, next_at)
        select id, domain_id, now() from apps where id = ${appId}
        on conflict (app_id) do update set next_at = now()`)
    },
    () => SYNC_JOB.handle(core.db, appId, parts),
  )
  expect(await core.db.$count(syncRuns, eq(syncRuns.appId, appId))).toBe(0)
  const [row] = await core.db.select().from(apps).where(eq(apps.id, appId))
  expect(row?.syncStatus).toBe(null)
})

let tenants = 0
const other = () => {
  tenants += 1
  return { baseUrl: `${upstream.baseUrl}/tenant-${tenants}` }
}

test('a person stays INACTIVE until their offboarding ends, whatever the identity source says', async () => {
  const { db } = core
  await deleteApps(core)
  const names = (given_name: string) => account('lena', { given_name })
  upstream.holds = { ...upstream.holds, accounts: [names('Lena')] }
  const appId = await connect(core, upstream)
  expect((await configure(appId, { identity_source: identity })).status).toBe(200)
  await sync(core, appId)
  const isLena = eq(users.email, 'lena@example.com')
  const lena = async () => {
    const [row] = await db.select().from(users).where(isLena)
    if (!row) throw new Error('the user lena is missing')
    return row
  }
  const { id: userId, domainId } = await lena()
  await db.insert(userOffboardings).values({ domainId, userId, status: 'IN_PROGRESS' })
  await db.update(users).set({ status: 'INACTIVE' }).where(isLena)
  upstream.holds.accounts = [names('Lene')]
  await sync(core, appId)
  expect(await lena()).toMatchObject({ status: 'INACTIVE', givenName: 'Lene' })
  const isHers = eq(userOffboardings.userId, userId)
  await db.update(userOffboardings).set({ status: 'COMPLETED' }).where(isHers)
  await sync(core, appId)
  expect((await lena()).status).toBe('ACTIVE')
})

test('a sync that deactivates an admin locks the person before the roles of admins', async () => {
  const { db } = core
  await deleteApps(core)
  upstream.holds = { ...upstream.holds, accounts: [account('root')] }
  const appId = await connect(core, upstream)
  expect((await configure(appId, { identity_source: identity })).status).toBe(200)
  await sync(core, appId)
  const isRoot = eq(users.email, 'root@example.com')
  const status = async () => (await db.select().from(users).where(isRoot))[0]?.status
  await db.execute(sql`insert into user_roles (domain_id, user_id, role)
    select domain_id, id, 'Admin' from users where email = 'root@example.com'`)
  for (const [accounts, left] of [
    [[account('root', { user_status: 'SUSPENDED' })], 'SUSPENDED'],
    [[account('else')], 'INACTIVE'],
  ] as const) {
    upstream.holds.accounts = [...accounts]
    let synced: Promise<unknown> = Promise.resolve()
    await db.transaction(async (tx) => {
      await tx.select().from(users).where(isRoot).for('no key update')
      synced = sync(core, appId)
      await until('the sync waits for a lock', async () => (await countWaiting(db)) > 0)
      await tx.execute(sql`select from user_roles where role = 'Admin' for update nowait`)
    }, NO_RETRY)
    await synced
    expect(await status()).toBe(left)
  }
})
