/** Spans of associations: what is held is a row of `associations`, what was held one of `association_spans`. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Association } from '../../../runtime/contract/models/access.ts'
import { deleteAssociations } from '../../../runtime/core/history/associations.ts'
import { prune } from '../../../runtime/core/retention/prune.ts'
import { parseRetention } from '../../../runtime/core/retention/rules.ts'
import { apps } from '../../../runtime/database/schema/apps.ts'
import type { CoreHost } from '../host.ts'
import { ask, connect, ended, startSynced, sync } from '../sync/synced.ts'
import {
  account,
  association,
  entitlement,
  startUpstream,
  type Upstream,
} from '../sync/upstream.ts'

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
beforeEach(async () => {
  await core.db.delete(apps)
  upstream.before = () => undefined
  upstream.holds = {
    accounts: [account('ada'), account('ben')],
    resources: [],
    entitlements: [entitlement('g1'), entitlement('g2')],
    associations: [association('ada', 'g1'), association('ben', 'g1'), association('ben', 'g2')],
    activity: [],
  }
})

const list = async (query: string): Promise<Association[]> => {
  const { status, body } = await core.call('GET', `/associations?${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.items
}
const heldIn = async (appId: string) =>
  (await list(`app_id=${appId}`))
    .map((one) => [`${one.unique_identifier} ${one.entitlement_id}`, one.since, one.first_run])
    .sort()
const written = async (appId: string): Promise<number> => {
  const [row] = await ask<{ n: string }>(
    core,
    sql`select count(*) as n from association_spans where app_id = ${appId}`,
  )
  return Number(row?.n)
}

/** A sync after which nothing is held: an operator says so where it stops. */
async function emptied(appId: string): Promise<void> {
  upstream.holds.associations = []
  const run = await sync(core, appId)
  if (run.state === 'SUCCEEDED') return
  await core.call('POST', `/operator/syncs/${run.id}/accept`, { body: {} })
  expect(await ended(core, appId)).toMatchObject({ state: 'SUCCEEDED' })
}

test('a first sync, and one that finds the same, write no span', async () => {
  const appId = await connect(core, upstream)
  const first = await sync(core, appId)
  const held = await heldIn(appId)
  expect(held).toEqual(['ada g1', 'ben g1', 'ben g2'].map((one) => [one, held[0]?.[1], first.id]))
  await sync(core, appId)
  expect(await heldIn(appId)).toEqual(held)
  expect(await written(appId)).toBe(0)
})

test('what a run that failed was the first to see is held since the next complete one', async () => {
  const appId = await connect(core, upstream)
  upstream.before = (kind) =>
    kind === 'activity' ? { status: 401, code: 'unauthenticated' } : undefined
  const failed = await sync(core, appId)
  expect(failed.state).toBe('FAILED')
  expect(await heldIn(appId)).toEqual([])
  upstream.before = () => undefined
  const complete = await sync(core, appId)
  const since = complete.endedAt?.toISOString()
  expect(await heldIn(appId)).toEqual(
    ['ada g1', 'ben g1', 'ben g2'].map((one) => [one, since, complete.id]),
  )
})

test('what a run began to delete, and a later one finds again, is held since it was first seen', async () => {
  const appId = await connect(core, upstream)
  await sync(core, appId)
  const held = await heldIn(appId)
  await core.db.transaction((tx) => deleteAssociations(tx, appId, sql`true`))
  // It is held until a complete run says that it is not.
  expect(await heldIn(appId)).toEqual(held)
  upstream.holds.associations = [association('ada', 'g1'), association('ada', 'g2')]
  const { id } = await sync(core, appId)
  expect(await heldIn(appId)).toEqual([held[0], ['ada g2', expect.any(String), id]])
  await emptied(appId)
  expect(await heldIn(appId)).toEqual([])
  expect(await written(appId)).toBe(4)
})

test('spans that a host of a version before wrote go on, once each', async () => {
  const appId = await connect(core, upstream)
  const first = await sync(core, appId)
  const [ada, ...others] = await heldIn(appId)
  // Ada's association as a version before left it; and what such a host wrote for one of Ben's beside this one.
  await core.db.execute(sql`
    insert into association_spans (domain_id, app_id, account_id, entitlement_id, since, first_run)
    select r.domain_id, h.app_id, h.account_id, h.entitlement_id,
      case a.unique_identifier when 'ada' then '2026-01-01Z'::timestamptz else clock_timestamp() end, 1
    from associations h join accounts a on a.id = h.account_id join entitlements e on e.id = h.entitlement_id
    join sync_runs r on r.id = ${first.id} where h.app_id = ${appId} and e.external_id = 'g1'`)
  await core.db.execute(sql`
    update associations h set first_run = null from accounts a
    where a.id = h.account_id and h.app_id = ${appId} and a.unique_identifier = 'ada'`)
  await sync(core, appId)
  expect(await heldIn(appId)).toEqual([[ada?.[0], '2026-01-01T00:00:00.000Z', 1], ...others])
  upstream.holds.associations = [association('ben', 'g1'), association('ben', 'g2')]
  const { id } = await sync(core, appId)
  expect(await heldIn(appId)).toEqual(others)
  const ended = await ask(core, sql`select gone_run from association_spans where app_id = ${appId}`)
  expect(ended).toEqual([{ gone_run: String(id) }])
})

test('pages go from app to app, and hold each association once', async () => {
  const ids = [
    await connect(core, upstream),
    await connect(core, { baseUrl: `${upstream.baseUrl}/tenant-b` }),
  ].sort()
  for (const id of ids) await sync(core, id)
  upstream.holds.associations = [association('ada', 'g1'), association('ben', 'g2')]
  await sync(core, ids[0] as string)
  const whole = await list('size=100')
  expect(whole.map(({ app_id }) => app_id)).toEqual([ids[0], ids[0], ids[1], ids[1], ids[1]])
  const paged: Association[] = []
  for (let page = 1; page <= 3; page += 1) paged.push(...(await list(`size=2&page=${page}`)))
  expect(paged).toEqual(whole)
  const past = await core.call('GET', '/associations?size=2&page=4')
  expect(past.body).toMatchObject({ items: [], total: 5, pages: 3 })
  const csv = await core.call('GET', '/associations', { headers: { accept: 'text/csv' } })
  const lines = String(csv.body).trim().split('\r\n').slice(1)
  expect(lines.map((line) => line.split(',').slice(0, 2))).toEqual(
    whole.map(({ app_id, account_id }) => [app_id, account_id]),
  )
})

test('a run stays as long as something is held that it was the first to see', async () => {
  const appId = await connect(core, upstream)
  const first = await sync(core, appId)
  await core.db.execute(sql`update sync_runs set ended_at = '2020-01-01Z' where id = ${first.id}`)
  await core.db.execute(sql`
    insert into sync_runs (domain_id, app_id, state, page_size, ended_at)
    select r.domain_id, r.app_id, 'FAILED', 100, '2020-01-01Z' from sync_runs r, generate_series(1, 30) where r.id = ${first.id}`)
  await sync(core, appId)
  const held = await heldIn(appId)
  const { sync_runs: removed } = await prune(
    core.db,
    parseRetention(''),
    new AbortController().signal,
  )
  expect(removed).toBeGreaterThan(0)
  expect(await heldIn(appId)).toEqual(held)
  await emptied(appId)
  await prune(core.db, parseRetention(''), new AbortController().signal)
  const runs = await ask(core, sql`select id from sync_runs where id = ${first.id}`)
  expect(runs).toEqual([])
})
