/** The identity source: its accounts become users, and changes become identity events. */
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { apps } from '../../../runtime/database/schema/apps.ts'
import { users } from '../../../runtime/database/schema/people.ts'
import { type CoreHost, person } from '../host.ts'
import {
  accountsOf,
  ask,
  connect,
  deleteApps,
  ended,
  startSynced,
  sync,
  trigger,
} from './synced.ts'
import { account, association, entitlement, startUpstream, type Upstream } from './upstream.ts'

let upstream: Upstream
let core: CoreHost
let appId: string

const MAPPING = {
  manager: { attribute: 'boss', by: 'id' },
  groups: 'GROUP',
  attributes: { Department: 'department', Number: 'integration_specific_id' },
}

const boss = (id: string, department = 'Sales') => ({ custom_attributes: { boss: id, department } })

beforeAll(async () => {
  upstream = await startUpstream()
  core = await startSynced(upstream)
})
afterAll(async () => {
  await core.stop()
  await upstream.close()
})
beforeEach(async () => {
  upstream.before = () => undefined
  await deleteApps(core)
  await core.db.execute(sql`delete from groups`)
  await core.db.execute(sql`delete from users where email <> 'admin@localhost'`)
  upstream.hidden = []
  upstream.holds = {
    accounts: [
      account('ada', boss('ben')),
      account('ben', boss('cy', 'Research')),
      account('cy', boss('ben')),
      account('dot', { user_status: 'SUSPENDED', ...boss('dot') }),
      account('robot', { account_type: 'service' }),
      account('nomail', { email: null }),
      account('badmail', { email: 'not an address' }),
    ],
    resources: [],
    entitlements: [
      entitlement('sales', { label: 'Sales' }),
      entitlement('all', { label: 'Everybody' }),
      entitlement('role', { entitlement_type: 'ROLE' }),
    ],
    associations: [
      association('ada', 'sales'),
      association('ada', 'all'),
      association('ben', 'all'),
      association('ben', 'role'),
      association('nomail', 'all'),
    ],
    activity: [],
  }
  appId = await connect(core, upstream)
  const settings = { identity_source: MAPPING }
  const reply = await core.call('PUT', `/operator/apps/${appId}/sync`, { body: { settings } })
  expect(reply.status).toBe(200)
})

const people = () =>
  ask<{
    name: string
    status: string
    boss: string | null
    department: string | null
    number: string
  }>(
    core,
    sql`select split_part(u.email, '@', 1) as name, u.status, split_part(m.email, '@', 1) as boss,
        u.custom_attributes -> 'Department' ->> 'value' as department,
        u.custom_attributes -> 'Number' ->> 'value' as number
      from users u left join users m on m.id = u.manager_id
      where u.email <> 'admin@localhost' order by u.email`,
  )

const idOf = async (name: string): Promise<string> =>
  (
    await core.db
      .select()
      .from(users)
      .where(eq(users.email, `${name}@example.com`))
  )[0]?.id ?? ''

const members = async (name: string): Promise<string[]> => {
  const [group] = (await core.call('GET', `/groups?name=${name}&exact_match=true`)).body.items
  if (!group) return ['no such group']
  expect(group).toMatchObject({ app_id: appId, group_lifecycle: 'SYNCED' })
  const { items } = (await core.call('GET', `/groups/${group.id}/users`)).body
  return items.map(({ email }: { email: string }) => email.split('@')[0])
}

const events = async (query = '') =>
  (await core.call('GET', `/identity_events?${query}`)).body.identity_events as {
    user_id: string
    changed_field: string
    old_field_value: string | null
    new_field_value: string | null
  }[]

describe('the first sync', () => {
  test('creates users with managers and groups from the accounts of people', async () => {
    const run = await sync(core, appId)
    expect([run.state, run.problem]).toEqual(['SUCCEEDED', null])
    expect(await people()).toEqual([
      { name: 'ada', status: 'ACTIVE', boss: 'ben', department: 'Sales', number: 'ada' },
      { name: 'ben', status: 'ACTIVE', boss: 'cy', department: 'Research', number: 'ben' },
      // A cycle is kept, but nobody becomes their own manager.
      { name: 'cy', status: 'ACTIVE', boss: 'ben', department: 'Sales', number: 'cy' },
      { name: 'dot', status: 'SUSPENDED', boss: null, department: 'Sales', number: 'dot' },
    ])
    expect(await members('Everybody')).toEqual(['ada', 'ben'])
    expect(await members('Sales')).toEqual(['ada'])
    const ada = await idOf('ada')
    expect(await events(`identity_ids=${ada}`)).toMatchObject([
      { changed_field: 'email', old_field_value: null, new_field_value: 'ada@example.com' },
      { changed_field: 'given_name', new_field_value: 'ada' },
      { changed_field: 'family_name', new_field_value: 'Test' },
      { changed_field: 'status', new_field_value: 'ACTIVE' },
      { changed_field: 'custom_attributes.Number' },
      { changed_field: 'custom_attributes.Department' },
      { changed_field: 'manager_id', new_field_value: await idOf('ben') },
      { changed_field: 'groups', new_field_value: expect.any(String) },
      { changed_field: 'groups', new_field_value: expect.any(String) },
    ])
  })

  test('matches existing users by email, case-insensitively', async () => {
    const ada = await person(core.db, 'ADA@example.com')
    await sync(core, appId)
    expect(await idOf('ada')).toBe(ada.id)
    expect((await accountsOf(core, appId))[0]).toMatchObject({
      id: 'ada',
      email: 'ada@example.com',
    })
  })
})

describe('later syncs', () => {
  test('without differences record nothing', async () => {
    await sync(core, appId)
    const before = (await core.call('GET', '/identity_events')).body.total_count
    const run = await sync(core, appId)
    expect((await core.call('GET', '/identity_events')).body.total_count).toBe(before)
    expect(run.counts['users_changed']).toBeUndefined()
  })

  test('record each difference with its old and new value', async () => {
    await sync(core, appId)
    const ada = await idOf('ada')
    const since = new Date(Date.now()).toISOString()
    upstream.holds.accounts[0] = account('ada', {
      ...boss('cy', 'Research'),
      email: 'ada.new@example.com',
      given_name: 'Ada',
    })
    upstream.holds.associations = [association('ada', 'sales'), association('ben', 'all')]
    upstream.holds.entitlements.push(entitlement('new', { label: 'New' }))
    await sync(core, appId)
    expect(await idOf('ada.new')).toBe(ada)
    const changes = await events(`start_time=${since}`)
    expect(changes.every(({ user_id }) => user_id === ada)).toBe(true)
    expect(
      changes.map((one) => [one.changed_field, one.old_field_value, one.new_field_value]),
    ).toEqual([
      ['email', 'ada@example.com', 'ada.new@example.com'],
      ['given_name', 'ada', 'Ada'],
      ['custom_attributes.Department', 'Sales', 'Research'],
      ['manager_id', await idOf('ben'), await idOf('cy')],
      ['groups', 'Everybody', null],
    ])
  })

  test('set users who left to INACTIVE and users who return to ACTIVE, and delete nobody', async () => {
    await sync(core, appId)
    const all = upstream.holds.accounts
    upstream.holds.accounts = all.slice(0, 2)
    upstream.holds.associations = []
    upstream.holds.entitlements = []
    const [id] = (await core.call('GET', '/operator/syncs')).body.items
    const stopped = await sync(core, appId)
    expect([stopped.state, id.app_id]).toEqual(['STOPPED', appId])
    await core.call('POST', `/operator/syncs/${stopped.id}/accept`, { body: {} })
    expect((await ended(core, appId)).state).toBe('SUCCEEDED')
    expect((await people()).map(({ name, status }) => `${name} ${status}`)).toEqual([
      'ada ACTIVE',
      'ben ACTIVE',
      'cy INACTIVE',
      'dot INACTIVE',
    ])
    expect(await members('Everybody')).toEqual([])
    upstream.holds.accounts = all
    await sync(core, appId)
    expect((await people()).map(({ status }) => status)).toEqual([
      'ACTIVE',
      'ACTIVE',
      'ACTIVE',
      'SUSPENDED',
    ])
  })

  test('do not give one address to two users', async () => {
    await sync(core, appId)
    upstream.holds.accounts[0] = account('ada', { email: 'ben@example.com' })
    upstream.holds.accounts[2] = account('cy', { email: 'NEW@example.com' })
    upstream.holds.accounts[3] = account('dot', { email: 'new@example.com' })
    const run = await sync(core, appId)
    expect([run.state, run.problem]).toEqual(['SUCCEEDED', null])
    expect((await people()).map(({ name }) => name.toLowerCase()).sort()).toEqual([
      'ada',
      'ben',
      expect.stringMatching(/^(cy|dot)$/),
      'new',
    ])
  })

  test('do not suspend the last admin who can sign in', async () => {
    await sync(core, appId)
    await core.db.execute(sql`insert into user_roles (domain_id, user_id, role)
      select domain_id, id, 'Admin' from users where email = 'ada@example.com'`)
    upstream.holds.accounts[0] = account('ada', { user_status: 'SUSPENDED' })
    const operator = (status: string) =>
      core.db.execute(sql`update users set status = ${status} where email = 'admin@localhost'`)
    const held = Promise.withResolvers<undefined>()
    upstream.before = () => held.promise
    await trigger(core, appId)
    await operator('SUSPENDED')
    held.resolve(undefined)
    const run = await ended(core, appId)
    await operator('ACTIVE')
    expect([run.state, run.counts['admins_kept']]).toEqual(['SUCCEEDED', 1])
    expect((await people())[0]).toMatchObject({ name: 'ada', status: 'ACTIVE' })
    await sync(core, appId)
    expect((await people())[0]).toMatchObject({ name: 'ada', status: 'SUSPENDED' })
  })
})

describe('identity events', () => {
  test('are listed in pages, and filtered by field', async () => {
    await sync(core, appId)
    const whole = (await core.call('GET', '/identity_events?limit=1000')).body
    const read = []
    let cursor = ''
    do {
      const { body } = await core.call('GET', `/identity_events?limit=7${cursor}`)
      expect(body.total_count).toBe(whole.total_count)
      read.push(...body.identity_events)
      cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
    } while (cursor !== '')
    expect(read).toEqual(whole.identity_events)
    const fields = (await events('changed_fields=status&changed_fields=groups')).map(
      ({ changed_field }) => changed_field,
    )
    expect(new Set(fields)).toEqual(new Set(['status', 'groups']))
    expect((await core.call('GET', '/identity_events?cursor=x')).status).toBe(422)
    expect(await events('identity_ids=nobody')).toEqual([])
  })
})

test('at most one app is the identity source', async () => {
  const settings = { identity_source: MAPPING }
  const again = await core.call('PUT', `/operator/apps/${appId}/sync`, { body: { settings } })
  expect(again.status).toBe(200)
  const [row] = await core.db
    .insert(apps)
    .values({
      domainId: (await core.db.select().from(apps))[0]?.domainId ?? '',
      appClassId: 'x',
      instanceId: 'x',
      name: 'X',
    })
    .returning()
  const { status, body } = await core.call('PUT', `/operator/apps/${row?.id}/sync`, {
    body: { settings },
  })
  expect([status, body.error.message]).toEqual([
    409,
    expect.stringMatching(/is the identity source/),
  ])
})

test('accounts are matched to users by rules, then by email; a match by a person is kept', async () => {
  const settings = {
    identity_source: null,
    match_rules: [{ account: 'username', user: 'Login' }],
  }
  await core.call('PUT', `/operator/apps/${appId}/sync`, { body: { settings } })
  const eve = await person(core.db, 'eve@example.com')
  const ben = await person(core.db, 'ben@example.com')
  const hand = await person(core.db, 'hand@example.com')
  const attributes = { Login: { type: 'TEXT', value: 'ADA.login' } }
  await core.db.update(users).set({ customAttributes: attributes }).where(eq(users.id, eve.id))
  await person(core.db, 'ada@example.com')
  upstream.holds.accounts[0] = account('ada', { username: 'ada.LOGIN' })
  await sync(core, appId)
  const owner = async () =>
    (await accountsOf(core, appId)).slice(0, 4).map(({ id, email }) => `${id} ${email}`)
  expect(await owner()).toEqual([
    'ada eve@example.com',
    'badmail null',
    'ben ben@example.com',
    'cy null',
  ])
  await core.db.execute(sql`update accounts set user_id = ${hand.id}, matched_by = null
    where unique_identifier in ('ada', 'cy')`)
  await core.db.update(users).set({ email: 'other@example.com' }).where(eq(users.id, ben.id))
  await sync(core, appId)
  expect(await owner()).toEqual([
    'ada hand@example.com',
    'badmail null',
    'ben null',
    'cy hand@example.com',
  ])
})
