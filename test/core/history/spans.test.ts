/** Who held what, when and why, as complete syncs, uploads and requests record it. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Association } from '../../../runtime/contract/models/access.ts'
import { deleteAssociations } from '../../../runtime/core/history/association-spans.ts'
import { SPANS_BY_RUN } from '../../../runtime/core/history/older-hosts.ts'
import { prune } from '../../../runtime/core/retention/prune.ts'
import { parseRetention } from '../../../runtime/core/retention/rules.ts'
import { MIGRATIONS } from '../../../runtime/database/compatible.ts'
import { until } from '../../e2e/until.ts'
import { ADMIN_TOKEN, app, type CoreHost, type Person, person } from '../host.ts'
import { ask, connect, deleteApps, ended, startSynced, sync } from '../sync/synced.ts'
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
  await deleteApps(core)
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

/** The time of the database, later than everything before it. */
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

test('what a sync no longer finds stays in the history', async () => {
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

test('a sync that finds no changes writes no span', async () => {
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

test('an account that passes to another person stays in the history of the first one', async () => {
  const appId = await connect(core, upstream)
  upstream.holds.accounts = [account('x', { email: 'ada@example.com' })]
  upstream.holds.associations = [association('x', 'g2')]
  await sync(core, appId)
  const then = await now()
  upstream.holds.accounts = [account('x', { email: 'ben@example.com' })]
  await sync(core, appId)
  const later = await now()
  const accessKinds = async (who: Person, at: string) =>
    (await accessAt(who, at)).map((one: { kind: string; entitlement_id: string }) => [
      ...[one.kind, one.entitlement_id],
    ])
  const all = [
    ['account', null],
    ['entitlement', 'g2'],
  ]
  expect([await accessKinds(ada, then), await accessKinds(ben, then)]).toEqual([all, []])
  expect([await accessKinds(ada, later), await accessKinds(ben, later)]).toEqual([[], all])
  const of = async (who: Person, at: string) =>
    (await get(`/users/${who.id}/accounts?as_of=${at}`)).items.map((one: { email: string }) => [
      one.email,
    ])
  expect(await of(ada, then)).toEqual([['ada@example.com']])
  expect(await of(ada, later)).toEqual([])
})

test('an upload of accounts is recorded in the history', async () => {
  const appId = await app(core.db, 'By hand')
  const upload = async (accounts: object[]) => {
    const { body } = await core.call('POST', '/accounts/upload', {
      body: { app_id: appId, accounts },
    })
    await until('the upload has ended', async () =>
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
  ['a time in the future', '2999-01-01T00:00:00Z', /is in the future/],
  ['a time before the recorded history', '2020-01-01T00:00:00Z', /is recorded since 20\d\d-/],
])('%s is refused with the reason', async (_, at, words) => {
  for (const path of ['/accounts', '/associations', `/users/${ada.id}/access`]) {
    const { status, body } = await core.call('GET', `${path}?as_of=${at}`)
    expect([path, status]).toEqual([path, 422])
    expect(body.detail).toEqual([
      { loc: ['query', 'as_of'], type: 'value_error', msg: expect.stringMatching(words) },
    ])
  }
})

test('people see their own access, but not that of others unless they may read accounts', async () => {
  const seen = async (token: string) =>
    (await core.call('GET', `/users/${ada.id}/access`, { token })).status
  expect([await seen(ada.token), await seen(ben.token)]).toEqual([200, 403])
})

test('a time whose history was removed by retention is refused', async () => {
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

describe('associations: current ones in `associations`, past ones in `association_spans`', () => {
  beforeEach(() => {
    upstream.holds.accounts = [account('ada'), account('ben')]
    upstream.holds.associations.push(association('ben', 'g2'))
  })

  const list = async (query: string): Promise<Association[]> => {
    const { status, body } = await core.call('GET', `/associations?${query}`)
    expect(status, JSON.stringify(body)).toBe(200)
    return body.items
  }
  const currentAssociations = async (appId: string) =>
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

  /** A sync after which nothing is held; an operator accepts it if it stops. */
  async function syncWithoutAssociations(appId: string): Promise<void> {
    upstream.holds.associations = []
    const run = await sync(core, appId)
    if (run.state === 'SUCCEEDED') return
    await core.call('POST', `/operator/syncs/${run.id}/accept`, { body: {} })
    expect(await ended(core, appId)).toMatchObject({ state: 'SUCCEEDED' })
  }

  test('a first sync, and one that finds the same, write no span', async () => {
    const appId = await connect(core, upstream)
    const first = await sync(core, appId)
    const held = await currentAssociations(appId)
    expect(held).toEqual(['ada g1', 'ben g1', 'ben g2'].map((one) => [one, held[0]?.[1], first.id]))
    await sync(core, appId)
    expect(await currentAssociations(appId)).toEqual(held)
    expect(await written(appId)).toBe(0)
  })

  test('what a failed run saw first is held since the next complete run', async () => {
    const appId = await connect(core, upstream)
    upstream.before = (kind) =>
      kind === 'activity' ? { status: 401, code: 'unauthenticated' } : undefined
    const failed = await sync(core, appId)
    expect(failed.state).toBe('FAILED')
    expect(await currentAssociations(appId)).toEqual([])
    upstream.before = () => undefined
    const complete = await sync(core, appId)
    const since = complete.endedAt?.toISOString()
    expect(await currentAssociations(appId)).toEqual(
      ['ada g1', 'ben g1', 'ben g2'].map((one) => [one, since, complete.id]),
    )
  })

  test('what a run deleted before it failed, and a later one finds again, is held since it was first seen', async () => {
    const appId = await connect(core, upstream)
    await sync(core, appId)
    const held = await currentAssociations(appId)
    await core.db.transaction((tx) => deleteAssociations(tx, appId, sql`true`))
    // It counts as held until a complete run no longer finds it.
    expect(await currentAssociations(appId)).toEqual(held)
    upstream.holds.associations = [association('ada', 'g1'), association('ada', 'g2')]
    const { id } = await sync(core, appId)
    expect(await currentAssociations(appId)).toEqual([held[0], ['ada g2', expect.any(String), id]])
    await syncWithoutAssociations(appId)
    expect(await currentAssociations(appId)).toEqual([])
    expect(await written(appId)).toBe(4)
  })

  test('spans that a host of an earlier version wrote continue, once each', async () => {
    const appId = await connect(core, upstream)
    const first = await sync(core, appId)
    const [ada, ...others] = await currentAssociations(appId)
    // Ada's association as an earlier version left it, and a span of such a host for an association of Ben's
    // that this host knows as well.
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
    expect(await currentAssociations(appId)).toEqual([
      [ada?.[0], '2026-01-01T00:00:00.000Z', 1],
      ...others,
    ])
    upstream.holds.associations = [association('ben', 'g1'), association('ben', 'g2')]
    const { id } = await sync(core, appId)
    expect(await currentAssociations(appId)).toEqual(others)
    const ended = await ask(
      core,
      sql`select gone_run from association_spans where app_id = ${appId}`,
    )
    expect(ended).toEqual([{ gone_run: String(id) }])
  })

  describe('in a database that an earlier version has written to', () => {
    /** Sets when the database was migrated to this version, which is after its domain was created. */
    const migrated = (at: string) =>
      core.db.execute(sql`update deployment_versions set created_at = ${at}::timestamptz`)
    let was: string
    beforeAll(async () => {
      const [row] = await ask<{ at: string }>(
        core,
        sql`select min(created_at)::text as at from deployment_versions`,
      )
      was = row?.at ?? ''
      await core.db.execute(sql`update domains set created_at = '2020-01-01Z'`)
    })
    afterAll(async () => {
      await migrated(was)
      await core.db.execute(sql`update domains set created_at = clock_timestamp()`)
    })

    test('SPANS_BY_RUN is the time of the migration 0056_spans_by_run', () => {
      const { entries } = JSON.parse(
        readFileSync(path.join(MIGRATIONS, 'meta', '_journal.json'), 'utf8'),
      )
      const [migration] = entries.filter(({ tag }: { tag: string }) => tag === '0056_spans_by_run')
      expect(SPANS_BY_RUN).toBe(migration.when)
    })

    /** Leaves associations as a host of the previous version does: without a first run. */
    const removeFirstRuns = (appId: string) =>
      core.db.execute(sql`update associations set first_run = null where app_id = ${appId}`)

    test.each([
      ['a month ago', '2020-02-01Z', 0],
      ['just now', 'now', 3],
    ])(
      'access found by an unfinished run is held since the next complete run, in a host migrated %s',
      async (_, at, spans) => {
        await migrated(at)
        const appId = await connect(core, upstream)
        upstream.before = (kind) =>
          kind === 'activity' ? { status: 401, code: 'unauthenticated' } : undefined
        expect((await sync(core, appId)).state).toBe('FAILED')
        await removeFirstRuns(appId)
        upstream.before = () => undefined
        const complete = await sync(core, appId)
        const since = complete.endedAt?.toISOString()
        expect(await currentAssociations(appId)).toEqual(
          ['ada g1', 'ben g1', 'ben g2'].map((one) => [one, since, complete.id]),
        )
        expect(await written(appId)).toBe(spans)
        await sync(core, appId)
        expect((await currentAssociations(appId)).map(([, from]) => from)).toEqual([
          since,
          since,
          since,
        ])
      },
    )

    test('a host of that version that still runs reads all spans, and ends and adds its own', async () => {
      await migrated('now')
      const appId = await connect(core, upstream)
      const first = await sync(core, appId)
      const held = await currentAssociations(appId)
      expect(held.map(([, , run]) => run)).toEqual([first.id, first.id, first.id])
      const then = await now()
      // It reads only open spans, so everything that this host found in a complete run has one.
      const open = async () =>
        ask(
          core,
          sql`select since, first_run from association_spans where app_id = ${appId} and until is null`,
        )
      expect(await open()).toHaveLength(3)
      // A complete run of that host: it deletes what is gone, ends spans without an association, and begins a
      // span for associations without one.
      await core.db.execute(sql`
        delete from associations h using accounts a
        where a.id = h.account_id and h.app_id = ${appId} and a.unique_identifier = 'ada'`)
      await core.db.execute(sql`
        update association_spans s set until = clock_timestamp() where s.app_id = ${appId} and s.until is null
          and not exists (select from associations h where h.app_id = s.app_id and h.account_id = s.account_id
            and h.entitlement_id = s.entitlement_id)`)
      await core.db.execute(sql`
        insert into association_spans (domain_id, app_id, account_id, entitlement_id, since, first_run)
        select r.domain_id, h.app_id, h.account_id, h.entitlement_id, clock_timestamp(), r.id
        from associations h join sync_runs r on r.id = ${first.id}
        where h.app_id = ${appId} and not exists (select from association_spans s where s.app_id = h.app_id
          and s.account_id = h.account_id and s.entitlement_id = h.entitlement_id and s.until is null)`)
      expect(await currentAssociations(appId)).toEqual(held.slice(1))
      expect(await heldAt(appId, then)).toEqual(['ada g1', 'ben g1', 'ben g2'])
    })
  })

  test('pages go from app to app and contain each association once', async () => {
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

  test('a run is kept as long as something is held that it saw first', async () => {
    const appId = await connect(core, upstream)
    const first = await sync(core, appId)
    await core.db.execute(sql`update sync_runs set ended_at = '2020-01-01Z' where id = ${first.id}`)
    await core.db.execute(sql`
      insert into sync_runs (domain_id, app_id, state, page_size, ended_at)
      select r.domain_id, r.app_id, 'FAILED', 100, '2020-01-01Z' from sync_runs r, generate_series(1, 30) where r.id = ${first.id}`)
    await sync(core, appId)
    const held = await currentAssociations(appId)
    const { sync_runs: removed } = await prune(
      core.db,
      parseRetention(''),
      new AbortController().signal,
    )
    expect(removed).toBeGreaterThan(0)
    expect(await currentAssociations(appId)).toEqual(held)
    await syncWithoutAssociations(appId)
    await prune(core.db, parseRetention(''), new AbortController().signal)
    const runs = await ask(core, sql`select id from sync_runs where id = ${first.id}`)
    expect(runs).toEqual([])
  })
})

test('current access is shown even if the clock of the database has gone back since it was found', async () => {
  const appId = await connect(core, upstream)
  await sync(core, appId)
  const held = async () => ({
    associations: (await get(`/associations?app_id=${appId}`)).total,
    access: (await get(`/users/${ada.id}/access`)).items.map(({ kind }: { kind: string }) => kind),
  })
  const all = { associations: 2, access: ['account', 'entitlement'] }
  expect(await held()).toEqual(all)
  // The times that a clock an hour ahead would have written.
  await core.db.execute(sql`
    update sync_runs set recorded_at = recorded_at + interval '1 hour' where app_id = ${appId}`)
  await core.db.execute(sql`
    update account_spans set since = since + interval '1 hour' where app_id = ${appId}`)
  expect(await held()).toEqual(all)
  const evidence = await core.host.app.request(`/users/${ada.id}/access/evidence`, {
    headers: { host: 'localhost', authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  const [first = ''] = (await evidence.text()).split('\n')
  expect(JSON.parse(first).access).toMatchObject({ held: 2 })
  // A span that ended by that clock has ended.
  await core.db.execute(sql`
    update account_spans set until = since where app_id = ${appId} and user_id = ${ada.id}`)
  expect((await held()).access).toEqual([])
})
