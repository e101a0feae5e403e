/** Who held what, when and why, as complete syncs, uploads, imports and requests leave it. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { prune } from '../../../runtime/core/retention/prune.ts'
import { parseRetention } from '../../../runtime/core/retention/rules.ts'
import { apps } from '../../../runtime/database/schema/apps.ts'
import { until } from '../../e2e/until.ts'
import { app, type CoreHost, type Person, person } from '../host.ts'
import { ask, connect, startSynced, sync } from '../sync/synced.ts'
import {
  account,
  association,
  entitlement,
  startUpstream,
  type Upstream,
} from '../sync/upstream.ts'

let upstream: Upstream
let core: CoreHost
let ada: Person
let ben: Person

beforeAll(async () => {
  upstream = await startUpstream()
  core = await startSynced(upstream)
  ada = await person(core.db, 'ada@example.com')
  ben = await person(core.db, 'ben@example.com')
})
afterAll(async () => {
  await core.stop()
  await upstream.close()
})
beforeEach(async () => {
  await core.db.delete(apps)
  for (const table of ['account_spans', 'association_spans', 'reason_spans'])
    await core.db.execute(sql`delete from ${sql.identifier(table)}`)
  upstream.before = () => undefined
  upstream.holds = {
    accounts: ['ada', 'ben', 'cy'].map((id) => account(id)),
    resources: [],
    entitlements: [entitlement('g1'), entitlement('g2')],
    associations: [association('ada', 'g1'), association('ben', 'g1')],
    activity: [],
  }
})

/** A moment of the database, after everything before. */
async function now(): Promise<string> {
  const [row] = await ask<{ at: Date | string }>(core, sql`select clock_timestamp() as at`)
  await new Promise((resolve) => setTimeout(resolve, 5))
  return new Date(row?.at ?? '').toISOString()
}

const get = async (path: string) => {
  const { status, body } = await core.call('GET', path)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const heldAt = async (appId: string, at: string): Promise<string[]> =>
  (await get(`/associations?app_id=${appId}&as_of=${at}`)).items
    .map(
      (one: { unique_identifier: string; entitlement_id: string }) =>
        `${one.unique_identifier} ${one.entitlement_id}`,
    )
    .sort()
const accountsAt = async (appId: string, at: string): Promise<string[]> =>
  (await get(`/accounts?app_id=${appId}&as_of=${at}`)).items.map(
    (one: { unique_identifier: string; status: string; user_id: string }) =>
      `${one.unique_identifier} ${one.status}${one.user_id === ada.id ? ' of Ada' : ''}`,
  )
const accessAt = async ({ id }: Person, at: string) =>
  (await get(`/users/${id}/access?as_of=${at}`)).items

test('what a sync no longer finds is still known to have been there', async () => {
  const appId = await connect(core, upstream)
  const before = await now()
  const first = await sync(core, appId)
  const then = await now()
  upstream.holds.accounts = [account('ada', { user_status: 'SUSPENDED' }), account('ben')]
  upstream.holds.associations = [association('ada', 'g1'), association('ada', 'g2')]
  const second = await sync(core, appId)
  const later = await now()
  expect(await heldAt(appId, before)).toEqual([])
  expect(await accountsAt(appId, before)).toEqual([])
  expect(await heldAt(appId, then)).toEqual(['ada g1', 'ben g1'])
  expect(await accountsAt(appId, then)).toEqual(['ada ACTIVE of Ada', 'ben ACTIVE', 'cy ACTIVE'])
  expect(await heldAt(appId, later)).toEqual(['ada g1', 'ada g2'])
  expect(await accountsAt(appId, later)).toEqual(['ada SUSPENDED of Ada', 'ben ACTIVE'])
  const { items } = await get(`/associations?app_id=${appId}&as_of=${then}`)
  const runs = items.map((one: Record<string, unknown>) => [
    ...[one['unique_identifier'], one['first_run'], one['last_run'], one['gone_run']],
  ])
  expect(runs.sort()).toEqual([
    ['ada', first.id, second.id, null],
    ['ben', first.id, first.id, second.id],
  ])
  const [ended] = items.filter((one: { until: string | null }) => one.until !== null)
  expect(await heldAt(appId, ended.until)).not.toContain('ben g1')
})

test('a run that stopped or failed ends no span and begins none', async () => {
  const appId = await connect(core, upstream)
  await sync(core, appId)
  upstream.holds.associations = [association('cy', 'g2')]
  upstream.holds.accounts = []
  expect((await sync(core, appId)).state).toBe('STOPPED')
  expect(await heldAt(appId, await now())).toEqual(['ada g1', 'ben g1'])
  upstream.holds.accounts = [account('ada'), account('ben')]
  upstream.before = (kind) =>
    kind === 'entitlements' ? { status: 401, code: 'unauthenticated' } : undefined
  expect((await sync(core, appId)).state).toBe('FAILED')
  expect(await heldAt(appId, await now())).toEqual(['ada g1', 'ben g1'])
  expect(await accountsAt(appId, await now())).toHaveLength(3)
})

test('a sync that finds everything as it was writes no span', async () => {
  const appId = await connect(core, upstream)
  upstream.holds.accounts = Array.from({ length: 2000 }, (_, n) => account(`a${n}`))
  await sync(core, appId)
  const rows = async () =>
    ask(core, sql`select id, xmin::text as made, ctid::text as at from account_spans order by id`)
  const before = await rows()
  expect(before).toHaveLength(2000)
  expect((await sync(core, appId)).counts).toMatchObject({ accounts: 2000 })
  expect(await rows()).toEqual(before)
})

test('an account that goes to another person was the first one’s', async () => {
  const appId = await connect(core, upstream)
  upstream.holds.accounts = [account('x', { email: 'ada@example.com' })]
  upstream.holds.associations = [association('x', 'g2')]
  await sync(core, appId)
  const then = await now()
  upstream.holds.accounts = [account('x', { email: 'ben@example.com' })]
  await sync(core, appId)
  const later = await now()
  const had = async (who: Person, at: string) =>
    (await accessAt(who, at)).map((one: { kind: string; entitlement_id: string }) => [
      ...[one.kind, one.entitlement_id],
    ])
  const all = [
    ['account', null],
    ['entitlement', 'g2'],
  ]
  expect([await had(ada, then), await had(ben, then)]).toEqual([all, []])
  expect([await had(ada, later), await had(ben, later)]).toEqual([[], all])
  const of = async (who: Person, at: string) =>
    (await get(`/users/${who.id}/accounts?as_of=${at}`)).items.map((one: { email: string }) => [
      one.email,
    ])
  expect(await of(ada, then)).toEqual([['ada@example.com']])
  expect(await of(ada, later)).toEqual([])
})

test('an upload of accounts is a moment of the history', async () => {
  const appId = await app(core.db, 'By hand')
  const upload = async (accounts: object[]) => {
    const { body } = await core.call('POST', '/accounts/upload', {
      body: { app_id: appId, accounts },
    })
    await until('the upload ends', async () =>
      ['SUCCESS', 'FAILURE'].includes(
        (await core.call('GET', `/accounts/upload/${body.job_id}`)).body.state,
      ),
    )
  }
  await upload([{ unique_identifier: 'u1', email: 'ada@example.com', status: 'ACTIVE' }])
  const then = await now()
  await upload([{ unique_identifier: 'u1', email: 'ada@example.com', status: 'SUSPENDED' }])
  expect(await accountsAt(appId, then)).toEqual(['u1 ACTIVE of Ada'])
  expect(await accountsAt(appId, await now())).toEqual(['u1 SUSPENDED of Ada'])
})

test.each([
  ['a moment to come', '2999-01-01T00:00:00Z', /has not come yet/],
  ['one before the history', '2020-01-01T00:00:00Z', /known since 20\d\d-/],
])('%s is refused, with what is known', async (_, at, words) => {
  for (const path of ['/accounts', '/associations', `/users/${ada.id}/access`]) {
    const { status, body } = await core.call('GET', `${path}?as_of=${at}`)
    expect([path, status]).toEqual([path, 422])
    expect(body.detail).toEqual([
      { loc: ['query', 'as_of'], type: 'value_error', msg: expect.stringMatching(words) },
    ])
  }
})

test('the access of others is for those who may read accounts', async () => {
  const seen = async (token: string) =>
    (await core.call('GET', `/users/${ada.id}/access`, { token })).status
  expect([await seen(ada.token), await seen(ben.token)]).toEqual([200, 403])
})

test('what retention removes is no longer known, which is said', async () => {
  const [{ since } = { since: '' }] = await ask<{ since: string }>(
    core,
    sql`select since::text from history_start`,
  )
  await core.db.execute(sql`update history_start set since = '2010-01-01Z'`)
  await core.db.execute(sql`
    insert into member_spans (domain_id, since, until, group_id, user_id)
    select domain_id, '2010-01-01Z', '2011-01-01Z', gen_random_uuid(), id from users where id = ${ada.id}`)
  const removed = await prune(core.db, parseRetention(''), new AbortController().signal)
  expect(removed).toMatchObject({ member_spans: 1 })
  const { status, body } = await core.call('GET', '/accounts?as_of=2012-01-01')
  expect([status, body.detail[0].msg]).toEqual([422, expect.not.stringContaining('since 2010')])
  await core.db.execute(sql`update history_start set since = ${since}::timestamptz`)
})
