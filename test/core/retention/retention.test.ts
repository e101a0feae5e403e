/** Retention: what is kept, for how long, and what is kept at any age. */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { getTableName, is, sql } from 'drizzle-orm'
import { PgTable } from 'drizzle-orm/pg-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BOUNDED } from '../../../runtime/core/retention/bounded.ts'
import { retentionJob } from '../../../runtime/core/retention/job.ts'
import { lookedAt, prune } from '../../../runtime/core/retention/prune.ts'
import {
  KEPT_OTHERWISE,
  parseRetention,
  REMOVED_ELSEWHERE,
  RETENTION,
  RETENTION_NAMES,
  retentionOf,
} from '../../../runtime/core/retention/rules.ts'
import { until } from '../../e2e/until.ts'
import { app, type CoreHost, domainOf, person, startCore, task } from '../host.ts'

let core: CoreHost
let domainId: string

beforeAll(async () => {
  core = await startCore()
  domainId = await domainOf(core.db)
  // The host's own hourly removal must not remove the rows of these tests.
  await until('the host has removed expired rows once', async () => {
    const { body } = await core.call('GET', '/operator/jobs?queue=retention&state=completed')
    return body.items.length > 0
  })
})
afterAll(() => core.stop())

const NEVER = new AbortController().signal
const DAYS = parseRetention('')
const KEYS = { uuid: '00000000-0000-0000-0000-000000000000', bigint: '0', text: '' }
const idsOf = async (table: string): Promise<string[]> => {
  const { rows } = await core.db.execute<{ id: string }>(
    sql`select id::text as id from ${sql.identifier(table)} order by id`,
  )
  return rows.map(({ id }) => id)
}

test('every table has exactly one rule of removal or reason why it is bounded', async () => {
  const folder = path.join(import.meta.dirname, '../../../runtime/database/schema')
  const modules: object[] = await Promise.all(
    readdirSync(folder).map((file) => import(path.join(folder, file))),
  )
  const tables = modules
    .flatMap((one) => Object.values(one))
    .filter((one) => is(one, PgTable))
    .map((one) => getTableName(one))
  expect(tables.length).toBeGreaterThan(40)
  // The jobs are in a schema of their own.
  const named = [RETENTION, REMOVED_ELSEWHERE, KEPT_OTHERWISE, BOUNDED].flatMap((one) =>
    Object.keys(one),
  )
  expect(named.sort()).toEqual([...tables, 'jobs'].sort())
  const { rows } = await core.db.execute<{ name: string }>(
    sql`select tablename as name from pg_tables where schemaname = 'public'`,
  )
  expect(rows.map(({ name }) => name).sort()).toEqual(tables.sort())
})

test('the latest twenty old sync runs of each app are kept, and one that is still running', async () => {
  const appId = await app(core.db, 'Synced')
  const quiet = await app(core.db, 'Quiet')
  for (const [id, count] of [
    [appId, 1300],
    [quiet, 3],
  ] as const)
    await core.db.execute(sql`
      insert into sync_runs (app_id, domain_id, page_size, state, created_at, ended_at)
      select ${id}, ${domainId}, 100, 'SUCCEEDED', now() - interval '200 days', now() - interval '200 days'
      from generate_series(1, ${count})`)
  // The oldest run of the app. It was continued after its end, and no host takes it soon.
  await core.db.execute(sql`
    update sync_runs set state = 'RUNNING', next_try_at = now() + interval '1 day'
    where id = (select min(id) from sync_runs where app_id = ${appId})`)
  expect(await prune(core.db, DAYS, NEVER)).toEqual({ sync_runs: 1279 })
  const { rows } = await core.db.execute(
    sql`select app_id, count(*)::int as n from sync_runs group by app_id order by n`,
  )
  expect(rows).toEqual([
    { app_id: quiet, n: 3 },
    { app_id: appId, n: 21 },
  ])
  expect(await prune(core.db, DAYS, NEVER)).toEqual({})
})

test('old access requests are removed with their tasks, unless access remains or they are needed', async () => {
  const ada = await person(core.db, 'ada@example.com')
  const appId = await app(core.db, 'Desk')
  const request = async (status: string, more = sql`null, null`): Promise<string> => {
    const { rows } = await core.db.execute<{ id: string }>(sql`
      insert into access_requests (domain_id, app_id, carried_app_id, target_user_id, status, plan,
        updated_at, todo, policy_for)
      values (${domainId}, ${appId}, ${appId}, ${ada.id}, ${status}, '{}',
        now() - interval '800 days', ${more}) returning id`)
    return rows[0]?.id ?? ''
  }
  const gone = [
    await request('REVERTED'),
    await request('DENIED'),
    await request('TIME_BASED_EXPIRED'),
  ]
  const stay = [
    await request('COMPLETED'),
    await request('TIME_BASED_EXPIRED_FAILED'),
    await request('TIME_BASED_EXPIRED_CANCELLED'),
    await request('PENDING_APPROVAL'),
    await request('REVERTED', sql`'remove', null`),
    await request('DENIED', sql`null, gen_random_uuid()`),
  ]
  const asked = await request('REVERTED')
  const left = await request('REVERTED')
  await core.db.execute(sql`insert into holders (domain_id, app_id, user_id, left_by)
    values (${domainId}, ${appId}, ${ada.id}, ${left})`)
  const open = await task(core.db, { appId })
  const done = await task(core.db, { appId, status: 'COMPLETED' })
  const ofGone = await task(core.db, { appId, status: 'COMPLETED' })
  const ofKept = await task(core.db, { appId, status: 'COMPLETED' })
  const ofAsked = await task(core.db, { appId })
  for (const [id, requestId] of [
    [ofGone, gone[0]],
    [ofKept, stay[0]],
    [ofAsked, asked],
  ])
    await core.db.execute(sql`update tasks set access_request_id = ${requestId} where id = ${id}`)
  await core.db.execute(sql`update tasks set updated_at = now() - interval '800 days'`)

  expect(await prune(core.db, DAYS, NEVER)).toMatchObject({ access_requests: 3, tasks: 2 })
  expect(await idsOf('access_requests')).toEqual([...stay, asked, left].sort())
  const tasks = await idsOf('tasks')
  expect(tasks).toEqual(expect.arrayContaining([open, ofKept, ofAsked]))
  for (const id of [done, ofGone]) expect(tasks).not.toContain(id)
})

test('valid tokens and retired tokens of the operator are kept', async () => {
  const ada = await person(core.db, 'tokens@example.com')
  const token = async (name: string, more: ReturnType<typeof sql>) => {
    await core.db.execute(sql`
      insert into api_tokens (domain_id, user_id, name, prefix, hash, revoked_at, expires_at, operator)
      values (${domainId}, ${ada.id}, ${name}, 'lsk_12345678', '\\x00', ${more})`)
  }
  const old = sql`now() - interval '100 days'`
  await token('revoked', sql`${old}, null, false`)
  await token('expired', sql`null, ${old}, false`)
  await token('revoked yesterday', sql`now() - interval '1 day', null, false`)
  await token('expires later', sql`null, now() + interval '1 day', false`)
  await token('the operator’s', sql`${old}, null, true`)
  expect(await prune(core.db, DAYS, NEVER)).toMatchObject({ api_tokens: 2 })
  const { rows } = await core.db.execute<{ name: string }>(
    sql`select name from api_tokens where user_id = ${ada.id} and name <> 'test' order by name`,
  )
  expect(rows.map(({ name }) => name)).toEqual([
    'expires later',
    'revoked yesterday',
    'the operator’s',
  ])
})

test('identity events, uploads, sessions, login links and shared answers are removed by age', async () => {
  const ada = await person(core.db, 'events@example.com')
  const old = sql`now() - interval '500 days'`
  await core.db.execute(sql`
    insert into identity_events (domain_id, user_id, detected_at, changed_field)
    select ${domainId}, ${ada.id}, case when n <= 1200 then ${old} else now() end, 'email'
    from generate_series(1, 1205) n`)
  await core.db.execute(sql`
    insert into uploads (domain_id, kind, user_id, state, finished_at)
    values (${domainId}, 'accounts', ${ada.id}, 'SUCCESS', ${old}),
      (${domainId}, 'accounts', ${ada.id}, 'SUCCESS', now())`)
  for (const table of ['sessions', 'login_links'])
    await core.db.execute(sql`
      insert into ${sql.identifier(table)} (domain_id, user_id, hash, expires_at)
      values (${domainId}, ${ada.id}, '\\x01', ${old}), (${domainId}, ${ada.id}, '\\x02', now() + interval '1 day')`)
  await core.db.execute(sql`insert into shared_answers (key, finder, until)
    values ('a', gen_random_uuid(), ${old}), ('b', gen_random_uuid(), now() + interval '1 day')`)
  expect(await prune(core.db, DAYS, NEVER)).toMatchObject({
    ...{ identity_events: 1200, uploads: 1, sessions: 1, login_links: 1, shared_answers: 1 },
  })
  expect(await idsOf('identity_events')).toHaveLength(5)
})

test('after an abort, the rest is removed in the next run', async () => {
  await core.db.execute(sql`insert into shared_answers (key, finder, until)
    select 'many' || n, gen_random_uuid(), now() - interval '1 day' from generate_series(1, 700) n`)
  expect(await prune(core.db, DAYS, AbortSignal.abort())).toEqual({})
  expect(await prune(core.db, DAYS, NEVER)).toEqual({ shared_answers: 700 })
})

test('old rows are found and removed even after a thousand rows that are kept', async () => {
  const ada = await person(core.db, 'passed@example.com')
  const appId = await app(core.db, 'Long ago')
  const insert = (count: number, status: string, days: number) =>
    core.db.execute(sql`
      insert into access_requests (domain_id, app_id, carried_app_id, target_user_id, status, plan, updated_at)
      select ${domainId}, ${appId}, ${appId}, ${ada.id}, ${status}, '{}', now() - make_interval(days => ${days})
      from generate_series(1, ${count})`)
  await insert(1200, 'TIME_BASED_EXPIRED_FAILED', 900)
  await insert(3, 'DENIED', 800)
  expect(await prune(core.db, DAYS, NEVER)).toEqual({ access_requests: 3 })
})

test('rows locked by another transaction are skipped and removed in the next run', async () => {
  await core.db.execute(sql`insert into shared_answers (key, finder, until)
    select 'held' || n, gen_random_uuid(), now() - interval '1 day' from generate_series(1, 10) n`)
  await core.db.transaction(async (tx) => {
    await tx.execute(sql`select from shared_answers where key in ('held1', 'held2') for update`)
    expect(await prune(core.db, DAYS, NEVER)).toEqual({ shared_answers: 8 })
  })
  expect(await prune(core.db, DAYS, NEVER)).toEqual({ shared_answers: 2 })
})

test.each(RETENTION_NAMES)('an index finds the old rows of %s in order', async (name) => {
  const at = { moment: '2020-01-01 00:00:00+00', key: KEYS[retentionOf(name).key[1]] }
  for (const from of [null, at]) {
    const plan = await core.db.transaction(async (tx) => {
      for (const way of ['seqscan', 'bitmapscan', 'sort'])
        await tx.execute(sql.raw(`set local enable_${way} = off`))
      const { rows } = await tx.execute<{ 'QUERY PLAN': string }>(
        sql`explain ${lookedAt(name, 30, from)}`,
      )
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    })
    expect(plan).toMatch(/Index (Only )?Scan/)
    expect(plan).not.toMatch(/Seq Scan|-> {2}Sort /)
    if (!retentionOf(name).inOrder) expect(plan).toMatch(/Index Cond: .* < \(now\(\)/)
  }
})

test('every foreign key to a table with retention has an index', async () => {
  const { rows } = await core.db.execute(sql`
    select f.conrelid::regclass::text as from_table, a.attname as from_column
    from pg_constraint f join pg_attribute a on a.attrelid = f.conrelid and a.attnum = f.conkey[1]
    where f.contype = 'f' and f.confrelid::regclass::text in (${sql.join(
      RETENTION_NAMES.map((name) => sql`${name}`),
      sql`, `,
    )})
      and not exists (
        select from pg_index i where i.indrelid = f.conrelid and i.indkey[0] = f.conkey[1])`)
  expect(rows).toEqual([])
})

test('removal runs in the background as one job an hour', async () => {
  const items = await until('a removal job is queued', async () => {
    const { body } = await core.call('GET', '/operator/jobs?queue=retention')
    return body.items.length > 0 && body.items
  })
  expect(items).toHaveLength(1)
  const { due } = retentionJob(DAYS)
  // The transaction hides the earlier times from the host, which would create another job.
  await core.db.transaction(async (tx) => {
    const age = (minutes: number) =>
      tx.execute(sql`update jobs.job set created_on = now() - make_interval(mins => ${minutes})
        where name = 'retention'`)
    await age(59)
    expect(await due?.(tx)).toEqual([])
    await age(61)
    expect(await due?.(tx)).toEqual(['everything'])
    await age(0)
  })
})

test('an operator can set retention times; invalid ones are refused with a message', () => {
  expect(parseRetention('tasks=365 sync_runs=7')).toMatchObject({ tasks: 365, sync_runs: 7 })
  expect(() => parseRetention('tasks=5')).toThrow(/tasks is kept between 30 and 36500 days, not 5/)
  expect(parseRetention('')).toMatchObject({ jobs: 7, activity_logs: null })
  expect(parseRetention('jobs=30 activity_logs=400')).toMatchObject({
    jobs: 30,
    activity_logs: 400,
  })
  expect(() => parseRetention('activity_logs=364')).toThrow(/kept between 365 and 36500 days/)
  for (const wrong of ['tasks', 'sessions=1', 'tasks=-1', 'nothing=3'])
    expect(() => parseRetention(wrong)).toThrow(/is not an entry such as tasks=365/)
})
