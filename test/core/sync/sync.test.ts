/** Complete runs: afterwards the database matches what the system lists. */
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TableOf } from '../../../runtime/contract/schema/table.ts'
import { responseAs } from '../../../runtime/core/kernel/context/connectors.ts'
import { ACCOUNTS } from '../../../runtime/core/sync/accounts.ts'
import { ASSOCIATIONS } from '../../../runtime/core/sync/associations.ts'
import { ENTITLEMENTS, RESOURCES } from '../../../runtime/core/sync/entitlements.ts'
import { EXPENSES } from '../../../runtime/core/sync/expenses.ts'
import { createKnownAccounts } from '../../../runtime/core/sync/known-accounts.ts'
import type { SyncListing } from '../../../runtime/core/sync/listing.ts'
import { writeInOrder } from '../../../runtime/core/sync/ordered-writes.ts'
import { BESIDE, type Walk } from '../../../runtime/core/sync/runs.ts'
import { isTaken, NO_RETRY } from '../../../runtime/database/contention.ts'
import type { Db } from '../../../runtime/database/database.ts'
import { apps } from '../../../runtime/database/schema/apps.ts'
import { fittingTable } from '../../../runtime/invoke/fitting.ts'
import { until } from '../../e2e/until.ts'
import { app, type CoreHost, person } from '../host.ts'
import { lastEvents } from '../store.ts'
import { idBytes } from './id-bytes.ts'
import {
  accountsOf,
  ask,
  associationsOf,
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

beforeAll(async () => {
  upstream = await startUpstream()
  core = await startSynced(upstream)
})
afterAll(async () => {
  await core.stop()
  await upstream.close()
})
beforeEach(async () => {
  await deleteApps(core)
  upstream.before = () => undefined
  upstream.hidden = []
  upstream.asked = []
  upstream.holds = {
    accounts: ['ada', 'ben', 'cy'].map((id) => account(id)),
    resources: [
      {
        integration_specific_id: 'r1',
        label: 'Sales',
        resource_type: 'WORKSPACE',
        description: null,
      },
    ],
    entitlements: [
      entitlement('g1'),
      entitlement('admin', {
        entitlement_type: 'ROLE',
        label: 'Administrator',
        integration_specific_resource_id: 'r1',
      }),
      entitlement('fixed', { is_assignable: false }),
    ],
    associations: [
      association('ada', 'g1'),
      association('ada', 'admin', 'r1'),
      association('ben', 'g1'),
    ],
    activity: [
      { account_id: 'ada', event_type: 'last_login', happened_at: '2026-11-01T10:00:00+02:00' },
      { account_id: 'ben', event_type: 'last_activity', happened_at: '2026-11-02T10:00:00Z' },
      { account_id: 'cy', event_type: 'last_login', happened_at: 'no moment' },
    ],
  }
})

const permissionsOf = (appId: string) =>
  ask<{ label: string; gone: boolean; type: string; visibility: string; resource: string }>(
    core,
    sql`select label, gone_at is not null as gone, type, visibility,
        resource_type || '/' || resource_id as resource
      from requestable_permissions where app_id = ${appId} order by label`,
  )

describe('a sync', () => {
  test('imports accounts with their users, their associations and their last use', async () => {
    const ada = await person(core.db, 'Ada@Example.com')
    const appId = await connect(core, upstream)
    const started = await trigger(core, appId)
    expect([started.status, started.body]).toEqual([
      202,
      { app_id: appId, sync_type: 'full_sync', status: 'SYNCING' },
    ])
    const run = await ended(core, appId)
    expect([run.state, run.problem]).toEqual(['SUCCEEDED', null])
    expect(run.counts).toMatchObject({ accounts: 3, entitlements: 3, associations: 3 })
    const { items } = (await core.call('GET', `/accounts?app_id=${appId}`)).body
    expect(items).toMatchObject([
      {
        unique_identifier: 'ada',
        status: 'ACTIVE',
        account_type: 'USER',
        user_id: ada.id,
        last_login: '2026-11-01T08:00:00.000Z',
        sources: ['LUMOS_INTEGRATION'],
      },
      {
        unique_identifier: 'ben',
        user_id: null,
        last_login: null,
        last_activity: '2026-11-02T10:00:00.000Z',
      },
      { unique_identifier: 'cy', last_login: null },
    ])
    expect(await associationsOf(core, appId)).toEqual(['ada admin', 'ada g1', 'ben g1'])
    expect((await core.call('GET', `/apps/${appId}`)).body.sync_status).toBe('SUCCESS')
    expect((await lastEvents(core, 2)).map(([event]) => event)).toEqual([
      'APP_SYNC_STARTED',
      'APP_SYNC_ENDED',
    ])
  })

  test('that runs again updates what has changed, and marks what is gone', async () => {
    const appId = await connect(core, upstream)
    await sync(core, appId)
    upstream.holds.accounts = [
      account('ada', { user_status: 'SUSPENDED' }),
      account('cy'),
      account('dot'),
    ]
    upstream.holds.associations = [association('ada', 'g1'), association('dot', 'g1')]
    const run = await sync(core, appId)
    expect(run.problem).toBeNull()
    expect(await accountsOf(core, appId)).toMatchObject([
      { id: 'ada', status: 'SUSPENDED', gone: false },
      // Reported by get_account.
      { id: 'ben', status: 'DEPROVISIONED', gone: true },
      { id: 'cy', status: 'ACTIVE', gone: false },
      { id: 'dot', status: 'ACTIVE', gone: false },
    ])
    expect(await associationsOf(core, appId)).toEqual(['ada g1', 'dot g1'])
    upstream.holds.accounts.push(account('ben'))
    await sync(core, appId)
    expect((await accountsOf(core, appId))[1]).toMatchObject({
      id: 'ben',
      status: 'ACTIVE',
      gone: false,
    })
  })

  test('keeps an account that is missing from the listing if get_account still finds it', async () => {
    const appId = await connect(core, upstream)
    await sync(core, appId)
    upstream.hidden = [account('ben', { user_status: 'SUSPENDED' })]
    upstream.holds.accounts = [account('ada'), account('cy')]
    const run = await sync(core, appId)
    expect(run.counts).toMatchObject({ accounts_confirmed: 1 })
    expect((await accountsOf(core, appId))[1]).toMatchObject({
      id: 'ben',
      status: 'SUSPENDED',
      gone: false,
    })
  })

  test('skips what cannot be stored, and counts it', async () => {
    upstream.holds.accounts = [
      account('x'.repeat(513), { email: null }),
      account('n\u0000l', { email: null }),
      account('ada', { given_name: 'A\u0000da \ud800', custom_attributes: { a: '\ud800\u0000' } }),
      account('ada', { given_name: 'Ada' }),
      account('long', { email: null, given_name: 'x'.repeat(100_000) }),
    ]
    upstream.holds.associations.push(association('nobody', 'g1'))
    const appId = await connect(core, upstream)
    const run = await sync(core, appId)
    expect([run.state, run.problem]).toEqual(['SUCCEEDED', null])
    expect(run.counts).toMatchObject({ accounts: 2, left_out: 2, loose: 2 })
    expect((await accountsOf(core, appId)).map(({ id }) => id)).toEqual(['ada', 'long'])
  })

  test('is refused if the app is not connected, or a sync is running', async () => {
    const manual = await app(core.db, 'Manual')
    const { status, body } = await trigger(core, manual)
    expect([status, body.detail[0].loc]).toEqual([422, ['path', 'app_id']])
    const appId = await connect(core, upstream)
    const replies = await Promise.all([1, 2, 3].map(() => trigger(core, appId)))
    expect(replies.map((reply) => reply.status).sort()).toEqual([202, 409, 409])
    await ended(core, appId)
    const body2 = { sync_type: 'half_sync' }
    expect((await core.call('POST', `/apps/${appId}/sync`, { body: body2 })).status).toBe(422)
    expect((await core.call('DELETE', `/apps/${appId}`)).status).toBe(200)
    expect((await trigger(core, appId)).status).toBe(409)
  })

  test('requires permission for the app', async () => {
    const appId = await connect(core, upstream)
    const somebody = await person(core.db, 'somebody@example.com', ['Read Only Admin'])
    const body = { sync_type: 'full_sync' }
    const reply = await core.call('POST', `/apps/${appId}/sync`, { token: somebody.token, body })
    expect(reply.status).toBe(403)
    const owner = await person(core.db, 'owner@example.com', ['App Admin'])
    await core.db.update(apps).set({ adminUserIds: [owner.id] })
    const theirs = await core.call('POST', `/apps/${appId}/sync`, { token: owner.token, body })
    expect(theirs.status).toBe(202)
    await ended(core, appId)
  })
})

const expense = (id: string, more: object = {}) => ({
  ...{ id, transaction_date: `${new Date().getUTCFullYear()}-01-02T00:00:00Z` },
  ...{ total_amount: { amount: 10.5, currency: 'EUR' }, seller: { name: 'Acme' } },
  ...{ description: `Expense ${id}`, submitter: { email: 'ADA@example.com' } },
  ...{ type: 'card_transaction', approval_status: {}, payment_status: {}, ...more },
})

describe('expenses', () => {
  const list = async (query: string) => (await core.call('GET', `/expenses${query}`)).body

  test('are listed, totalled by currency, and removed when the system no longer lists them', async () => {
    const appId = await connect(core, upstream)
    const old = expense('old', { transaction_date: '2019-05-01' })
    const dollars = { total_amount: { amount: '4', currency: 'USD' } }
    upstream.holds.expenses = [expense('a'), expense('b'), expense('c', dollars), old]
    upstream.holds.expenses.push(expense('d', { total_amount: {} }), expense('', {}))
    const run = await sync(core, appId)
    expect([run.state, run.counts['expenses'], run.counts['left_out']]).toEqual(['SUCCEEDED', 5, 1])
    const year = new Date().getUTCFullYear()
    const { items, total } = await list(`?app_id=${appId}&since=${year}-01-01&size=1`)
    expect(total).toBe(4)
    expect(items).toMatchObject([{ external_id: 'd', amount: null, currency: null }])
    expect((await list(`?app_id=${appId}&until=2020-01-01`)).items).toMatchObject([
      { external_id: 'old', amount: '10.50', seller: 'Acme', submitter: 'ADA@example.com' },
    ])
    expect((await list('?app_id=none')).total).toBe(0)
    const totals = (await list(`/totals?app_id=${appId}&since=${year}-01-01`)).items
    const of = { app_id: appId, app_name: 'Synced', month: `${year}-01` }
    expect(totals).toEqual([
      { ...of, currency: 'EUR', amount: '21.00', expenses: 2 },
      { ...of, currency: 'USD', amount: '4.00', expenses: 1 },
      { ...of, currency: null, amount: null, expenses: 1 },
    ])

    upstream.holds.expenses = [expense('a', dollars)]
    await sync(core, appId)
    const left = (await list(`?app_id=${appId}`)).items
    expect(left.map((one: { external_id: string }) => one.external_id)).toEqual(['a', 'old'])
    expect(left[0]).toMatchObject({ amount: '4.00', currency: 'USD' })
  })

  test('that the system refuses to list do not fail the sync, and earlier ones are kept', async () => {
    const appId = await connect(core, upstream)
    upstream.holds.expenses = [expense('a')]
    await sync(core, appId)
    upstream.before = (kind) =>
      kind === 'expenses' ? { status: 403, code: 'permission_denied' } : undefined
    const run = await sync(core, appId)
    expect([run.state, run.skipped]).toEqual(['SUCCEEDED', expect.arrayContaining(['expenses'])])
    expect((await list(`?app_id=${appId}`)).total).toBe(1)
    const auditor = await person(core.db, 'auditor@example.com', ['Auditor'])
    expect((await core.call('GET', '/expenses', { token: auditor.token })).status).toBe(403)
  })
})

/** A walk of the run with this number. Cast: writing reads only these members. */
const walkOf = (app: typeof apps.$inferSelect | undefined, run: number): Walk =>
  ({
    app,
    known: createKnownAccounts(),
    run: { id: run },
    settings: { matchRules: [], identity: null },
  }) as unknown as Walk

/** Writes listed rows as one page. */
async function written<T extends object, R, A>(
  listing: SyncListing<T, R, A>,
  tx: Db,
  walk: Walk,
  found: readonly unknown[],
  expected = { isNew: false },
) {
  const response = fittingTable(listing.capability, { rows: found })
  const table = responseAs<TableOf<T>>({ response })
  const { rows, left_out } = listing.prepare(walk, [listing.arrive(walk, table)], expected.isNew)
  const { written, repeated } = await listing.write(tx, walk, rows, expected)
  return { written, repeated, left_out }
}

describe('a page', () => {
  /** Rows of a table that the transaction has read so far. */
  async function readOf(tx: Db, table: string): Promise<number> {
    const { rows } = await tx.execute<{ n: string }>(sql`
      select seq_tup_read + idx_tup_fetch as n from pg_stat_xact_user_tables where relname = ${table}`)
    return Number(rows[0]?.n)
  }

  test('reads only the rows that it names among those that the run has already written', async () => {
    const made = await app(core.db, 'Large')
    const [row] = await core.db.select().from(apps).where(eq(apps.id, made))
    const walk = walkOf(row, 7)
    // As after a first sync: the planner has no statistics about these rows yet.
    await core.db.execute(sql`
      insert into accounts (domain_id, app_id, account_type, status, unique_identifier, seen_run)
      select domain_id, id, 'USER', 'ACTIVE', 'u' || lpad(n::text, 9, '0'), 7
      from apps, generate_series(1, 40000) n where id = ${made}`)
    const names = [...Array.from({ length: 90 }, (_, n) => `new${n}`), 'u000000001', 'u000040000']
    await core.db.transaction(async (tx) => {
      const before = await readOf(tx, 'accounts')
      const accounts = names.map((id) => account(id))
      expect(await written(ACCOUNTS, tx, walk, accounts)).toEqual({
        written: 92,
        repeated: 2,
        left_out: 0,
      })
      expect((await readOf(tx, 'accounts')) - before).toBeLessThan(10 * names.length)
    })
  })

  test.each([false, true])('stores every text unchanged (all of it new: %s)', async (isNew) => {
    const made = await app(core.db, `Odd ${isNew}`)
    const [row] = await core.db.select().from(apps).where(eq(apps.id, made))
    const walk = walkOf(row, 1)
    const odd = [
      '"',
      '\\',
      '{a,b}',
      'null',
      'NULL',
      ' ',
      'a\nb\t',
      '\u0001',
      'ü😀',
      `'`,
      '"\\"',
      '$1',
    ]
    await core.db.transaction(async (tx) => {
      const accounts = odd.map((id) => account(id, { given_name: id, username: id, email: null }))
      const listed = {
        entitlements: odd.map((id) => entitlement(id)),
        pairs: odd.map((id) => association(id, id)),
      }
      await written(ENTITLEMENTS, tx, walk, listed.entitlements, { isNew })
      await written(ACCOUNTS, tx, walk, accounts, { isNew })
      await written(ASSOCIATIONS, tx, walk, listed.pairs, { isNew })
    })
    const there = await ask<Record<string, string>>(
      core,
      sql`
      select a.unique_identifier as id, a.given_name as given, a.attributes ->> 'username' as username,
        a.email, e.external_id as held
      from accounts a join associations s on s.account_id = a.id join entitlements e on e.id = s.entitlement_id
      where a.app_id = ${made}`,
    )
    const byId = new Map(there.map(({ id, ...more }) => [id, more]))
    expect(byId).toEqual(
      new Map(odd.map((id) => [id, { given: id, username: id, email: null, held: id }])),
    )
  })

  test('of new accounts is written like any other, and matched to users by email', async () => {
    const people = await core.db.execute<{ email: string }>(sql`
      insert into users (domain_id, email, given_name, family_name)
      select domain_id, name || '@match.example', '', '' from (values ('Ada'), ('émile')) as one(name),
        (select domain_id from users limit 1) any_domain returning email`)
    const emails = [
      ...people.rows.map(({ email }) => email.toLowerCase()),
      'nobody@match.example',
      null,
    ]
    const details = [
      { user_status: 'SUSPENDED', account_type: 'service', custom_attributes: { team: 'Kür' } },
      { family_name: 'Łukasz', extra_data: { unread: 1 } },
      {},
    ]
    const found = emails.map((email, n) => account(`id${n}`, { ...details[n], email }))
    const rows = await Promise.all(
      [true, false].map(async (isNew) => {
        const made = await app(core.db, `Beside ${isNew}`)
        const [row] = await core.db.select().from(apps).where(eq(apps.id, made))
        const walk = walkOf(row, 3)
        await core.db.transaction((tx) => written(ACCOUNTS, tx, walk, found, { isNew }))
        return ask<Record<string, unknown>>(
          core,
          sql`select to_jsonb(a) - array['id', 'app_id', 'created_at', 'updated_at', 'discovered_at'] as row,
            u.email as user, a.discovered_at = a.created_at as is_now
            from accounts a left join users u on u.id = a.user_id where app_id = ${made} order by a.unique_identifier`,
        )
      }),
    )
    expect(rows[0]).toEqual(rows[1])
    expect(rows[0]?.map(({ user, is_now }) => [user, is_now])).toEqual([
      ...people.rows.map(({ email }) => [email, true]),
      [null, true],
      [null, true],
    ])
  })

  test('with more new accounts than are written at once is written completely', async () => {
    const made = await app(core.db, 'Many')
    const [row] = await core.db.select().from(apps).where(eq(apps.id, made))
    const found = Array.from({ length: 20_001 }, (_, n) =>
      account(`many${n}`, { given_name: `n${n}` }),
    )
    const walk = walkOf(row, 3)
    await core.db.transaction((tx) => written(ACCOUNTS, tx, walk, found, { isNew: true }))
    const there = await ask<{ right: boolean; n: string }>(
      core,
      sql`select unique_identifier = 'many' || substr(given_name, 2) as right, count(*) as n
        from accounts where app_id = ${made} group by 1`,
    )
    expect(there).toEqual([{ right: true, n: '20001' }])
  })

  test('without new rows writes no index', async () => {
    const made = await app(core.db, 'Unchanged')
    const [row] = await core.db.select().from(apps).where(eq(apps.id, made))
    const ids = Array.from({ length: 3000 }, (_, n) => `u${n}`)
    const updatesOf = async (tx: Db) => {
      const { rows } = await tx.execute<{ updated: string; moved: string }>(sql`
        select sum(n_tup_upd) as updated, sum(n_tup_upd - n_tup_hot_upd) as moved
        from pg_stat_xact_user_tables where relname in ('accounts', 'associations')`)
      return { updated: Number(rows[0]?.updated), moved: Number(rows[0]?.moved) }
    }
    const write = (run: number) =>
      core.db.transaction(async (tx) => {
        const walk = walkOf(row, run)
        const before = await updatesOf(tx)
        await written(ENTITLEMENTS, tx, walk, [entitlement('g')])
        const accounts = ids.map((id) => account(id))
        await written(ACCOUNTS, tx, walk, accounts)
        const associations = ids.map((id) => association(id, 'g'))
        await written(ASSOCIATIONS, tx, walk, associations)
        const after = await updatesOf(tx)
        return { updated: after.updated - before.updated, moved: after.moved - before.moved }
      })
    // The space of old row versions is reused only once no transaction can see them.
    const untilOldVersionsAreFree = () =>
      until('no transaction can see old row versions', async () => {
        const { rows } = await core.db.execute(sql`
          select from pg_stat_activity where datname = current_database()
            and backend_xmin is not null and pid <> pg_backend_pid()`)
        return rows.length === 0
      })
    await write(1)
    const moved: number[] = []
    for (const run of [2, 3, 4]) {
      await untilOldVersionsAreFree()
      const marks = await write(run)
      expect(marks.updated).toBe(6000)
      moved.push(marks.moved)
    }
    // The server does not reuse space in a page that it is writing to disk, so one run without moves suffices.
    expect(Math.min(...moved)).toBe(0)
  })

  test('counts rows that the run has written before, of each kind', async () => {
    const made = await app(core.db, 'Counted')
    const [row] = await core.db.select().from(apps).where(eq(apps.id, made))
    const { accounts, resources, entitlements, associations } = upstream.holds
    const write = async (run: number) => {
      const walk = walkOf(row, run)
      return core.db.transaction(async (tx) => [
        (await written(ACCOUNTS, tx, walk, accounts)).repeated,
        (await written(RESOURCES, tx, walk, resources)).repeated,
        (await written(ENTITLEMENTS, tx, walk, entitlements)).repeated,
        (await written(ASSOCIATIONS, tx, walk, associations)).repeated,
      ])
    }
    const first = [accounts.length, resources.length, entitlements.length, associations.length]
    expect(await write(1)).toEqual([0, 0, 0, 0])
    expect(await write(1)).toEqual(first)
    expect(await write(2)).toEqual([0, 0, 0, 0])
    upstream.holds.accounts.push(account('dee'))
    upstream.holds.associations.push(association('dee', 'g1'))
    expect(await write(2)).toEqual(first)
  })
})

describe('rows that are expected to be new', () => {
  const everything = sql`select a.unique_identifier, e.external_id, s.seen_run from accounts a
    left join associations s on s.account_id = a.id left join entitlements e on e.id = s.entitlement_id
    where a.app_id = `

  test('are written like others, even if some of them exist', async () => {
    const made = await app(core.db, 'Expected')
    const [row] = await core.db.select().from(apps).where(eq(apps.id, made))
    const { accounts, resources, entitlements, associations } = upstream.holds
    const walk = walkOf(row, 1)
    const batches = writeInOrder({ isNew: true })
    const counted: unknown[] = []
    const write = async (from: number, to: number) => {
      await batches.write(async (isNew, before) => {
        const [ofAccounts] = await core.db.transaction(async (tx) => {
          await written(RESOURCES, tx, walk, resources)
          await written(ENTITLEMENTS, tx, walk, entitlements)
          return [
            await written(ACCOUNTS, tx, walk, accounts.slice(from, to), { isNew }),
            await written(ASSOCIATIONS, tx, walk, associations.slice(from, to), { isNew }),
          ]
        })
        await before
        counted.push([ofAccounts, isNew])
      })
      await batches.written()
    }
    await write(0, 1)
    await write(0, accounts.length)
    expect(counted).toEqual([
      [{ written: 1, repeated: 0, left_out: 0 }, true],
      [{ written: accounts.length, repeated: 1, left_out: 0 }, false],
    ])
    const there = await ask(core, sql`${everything} ${made} order by 1, 2`)
    await write(0, accounts.length)
    expect(await ask(core, sql`${everything} ${made} order by 1, 2`)).toEqual(there)
  })

  test('are written concurrently, but one after the other once two batches wait for each other', async () => {
    const made = await app(core.db, 'Beside')
    const [row] = await core.db.select().from(apps).where(eq(apps.id, made))
    const walk = walkOf(row, 1)
    const batches = writeInOrder({ isNew: true })
    const done: string[] = []
    const isThere = Promise.withResolvers<void>()
    const write = (name: string, id: string, work: { first?: Promise<void>; behind?(): void }) =>
      batches.write((isNew, before) =>
        core.db.transaction(
          async (tx) => {
            if (isNew) await work.first
            const { repeated } = await written(ACCOUNTS, tx, walk, [account(id)], { isNew })
            work.behind?.()
            await before
            done.push(`${name}: ${repeated} again`)
          },
          isNew ? BESIDE : {},
        ),
      )
    // The second batch inserts the account of both first, and waits for the checkpoint of the first batch.
    await write('first', 'both', { first: isThere.promise })
    await write('second', 'both', { behind: () => isThere.resolve() })
    await write('third', 'other', {})
    await batches.written()
    expect(done).toEqual(['first: 0 again', 'second: 1 again', 'third: 0 again'])
    expect((await accountsOf(core, made)).map(({ id }) => id)).toEqual(['both', 'other'])
  })

  const resource = { integration_specific_id: 'r1', label: 'Sales', resource_type: 'WORKSPACE' }
  /** The capability of a listing, and a function that writes a row of it. */
  const each = <T extends object, R, A>(listing: SyncListing<T, R, A>, row: object) =>
    [
      listing.capability,
      (tx: Db, walk: Walk, isNew: boolean) => written(listing, tx, walk, [row], { isNew }),
    ] as const

  test.each([
    each(ACCOUNTS, account('ada')),
    each(RESOURCES, resource),
    each(ENTITLEMENTS, entitlement('g2')),
    each(ASSOCIATIONS, association('ben', 'g1')),
    each(EXPENSES, expense('x1')),
  ])(
    'of %s count as repeated if the previous batch wrote them at the same time',
    async (_, writeRow) => {
      const made = await app(core.db, 'Meanwhile')
      const [found] = await core.db.select().from(apps).where(eq(apps.id, made))
      const walk = walkOf(found, 1)
      await core.db.transaction(async (tx) => {
        await written(ENTITLEMENTS, tx, walk, [entitlement('g1')])
        await written(ACCOUNTS, tx, walk, [account('ben')])
      })
      const batches = writeInOrder({ isNew: true })
      const isThere = Promise.withResolvers<void>()
      const isWaitedFor = Promise.withResolvers<void>()
      const repeated: number[] = []
      const write = (work: { first?: Promise<void>; behind?(): Promise<void> }) =>
        batches.write((isNew, before) =>
          core.db.transaction(async (tx) => {
            if (isNew) await work.first
            const counted = await writeRow(tx, walk, isNew)
            await work.behind?.()
            await before
            repeated.push(counted.repeated)
          }, NO_RETRY),
        )
      await write({
        behind() {
          isThere.resolve()
          return isWaitedFor.promise
        },
      })
      const second = write({ first: isThere.promise })
      const waiting = sql`select from pg_locks join pg_stat_activity using (pid)
      where datname = current_database() and not granted`
      await until(
        'the second batch waits for the lock of the first',
        async () => (await ask(core, waiting)).length > 0,
      ).finally(() => isWaitedFor.resolve())
      await second
      await batches.written()
      expect(repeated).toEqual([0, 1])
    },
  )

  test('are the same associations, whether their accounts are known or looked up', async () => {
    const ids = ['ada', 'bob', 'Ünal, +"=\u{1f642}', ' led']
    const groups = ['g1', 'g2', 'g3']
    const found = [
      ...ids.flatMap((id) => groups.map((group) => association(id, group))),
      // Unknown names are loose, repeats count once, and rows that cannot be stored are skipped.
      ...[association('nobody', 'g1'), association('ada', 'nothing'), association('ada', 'g1')],
      ...[association('ada', ''), association('', 'g1'), association('nobody', 'nothing')],
    ]
    const writes = async (name: string, known: readonly string[] | null) => {
      const made = await app(core.db, name)
      const [row] = await core.db.select().from(apps).where(eq(apps.id, made))
      const walk = walkOf(row, 1)
      const isNew = known !== null
      const counted = await core.db.transaction(async (tx) => {
        await written(
          ENTITLEMENTS,
          tx,
          walk,
          groups.map((id) => entitlement(id)),
        )
        const accounts = ids.map((id) => account(id))
        await written(ACCOUNTS, tx, walk, accounts)
        const { rows } = await tx.execute<{ id: string; external: string }>(
          sql`select id, unique_identifier as external from accounts where app_id = ${made}`,
        )
        const wanted = rows.filter(({ external }) => known?.includes(external))
        walk.known.add(
          idBytes(wanted.map(({ id }) => id)),
          wanted.map(({ external }) => external),
        )
        return written(ASSOCIATIONS, tx, walk, found, { isNew })
      })
      expect(counted).toEqual({ written: 12, repeated: 0, left_out: 2 })
      return ask(core, sql`${everything} ${made} order by 1, 2`)
    }
    const right = await writes('Looked up', null)
    expect(right).toHaveLength(12)
    expect(await writes('None is known', [])).toEqual(right)
    expect(await writes('Some are known', ['bob', ids[2] ?? ''])).toEqual(right)
    expect(await writes('All are known', ids)).toEqual(right)
  })

  test('are detected as existing even if their accounts are known', async () => {
    const made = await app(core.db, 'Twice')
    const [row] = await core.db.select().from(apps).where(eq(apps.id, made))
    const walk = walkOf(row, 1)
    const add = (isNew: boolean) =>
      core.db.transaction((tx) =>
        written(ASSOCIATIONS, tx, walk, [association('ada', 'g1')], { isNew }),
      )
    await core.db.transaction(async (tx) => {
      await written(ENTITLEMENTS, tx, walk, [entitlement('g1')])
      await written(ACCOUNTS, tx, walk, [account('ada')], { isNew: true })
    })
    const [ada] = await ask<{ id: string; external: string }>(
      core,
      sql`select id, unique_identifier as external from accounts where app_id = ${made}`,
    )
    walk.known.add(idBytes([ada?.id ?? '']), ['ada'])
    expect(await add(true)).toEqual({ written: 1, repeated: 0, left_out: 0 })
    expect(isTaken(await add(true).catch((error: unknown) => error))).toBe(true)
    expect(await add(false)).toEqual({ written: 1, repeated: 1, left_out: 0 })
  })
})

describe('permissions of entitlements', () => {
  test('are created for assignable entitlements, and are hidden at first', async () => {
    const appId = await connect(core, upstream)
    await sync(core, appId)
    expect(await permissionsOf(appId)).toEqual([
      { label: 'Group g1', gone: false, type: 'SYNCED', visibility: 'HIDDEN', resource: '/' },
      {
        label: 'Sales: Administrator',
        gone: false,
        type: 'SYNCED',
        visibility: 'HIDDEN',
        resource: 'WORKSPACE/r1',
      },
    ])
  })

  test('are removed and restored with their entitlement, and keep the changes of an admin', async () => {
    const appId = await connect(core, upstream)
    await sync(core, appId)
    const path = `/appstore/requestable_permissions`
    const listed = (await core.call('GET', `${path}?app_id=${appId}`)).body.items
    const id = listed.find((one: { label: string }) => one.label === 'Group g1').id
    const request_config = { appstore_visibility: 'VISIBLE' }
    const body = { app_id: appId, label: 'Everybody', request_config }
    expect((await core.call('PATCH', `${path}/${id}`, { body })).status).toBe(200)
    const before = upstream.holds.entitlements
    upstream.holds.entitlements = [
      entitlement('admin', {
        entitlement_type: 'ROLE',
        label: 'Owner',
        integration_specific_resource_id: 'r1',
      }),
      entitlement('fixed'),
    ]
    await sync(core, appId)
    expect(await permissionsOf(appId)).toMatchObject([
      { label: 'Everybody', gone: true, visibility: 'VISIBLE' },
      { label: 'Group fixed', gone: false },
      { label: 'Sales: Owner', gone: false },
    ])
    upstream.holds.entitlements = before
    await sync(core, appId)
    expect(await permissionsOf(appId)).toMatchObject([
      { label: 'Everybody', gone: false, visibility: 'VISIBLE' },
      { label: 'Group fixed', gone: true },
      { label: 'Sales: Administrator', gone: false },
    ])
  })
})
