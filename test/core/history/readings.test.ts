/** Readings of an account between syncs, and its history. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordReadings } from '../../../runtime/core/history/spans.ts'
import { app, type CoreHost, domainOf, startCore } from '../host.ts'
import { ask } from '../sync/synced.ts'

let core: CoreHost
let appId: string
let domainId: string
beforeAll(async () => {
  core = await startCore()
  appId = await app(core.db, 'Wiki')
  domainId = await domainOf(core.db)
})
afterAll(() => core.stop())

/** An account that a reading has just found suspended; its span still says ACTIVE. */
async function suspended(name: string): Promise<string> {
  const [row] = await ask<{ id: string }>(
    core,
    sql`insert into accounts (domain_id, app_id, unique_identifier, status)
      values (${domainId}, ${appId}, ${name}, 'SUSPENDED') returning id`,
  )
  await span(row?.id ?? '', name, sql`now() - interval '1 day'`)
  return row?.id ?? ''
}

const span = (id: string, name: string, since: ReturnType<typeof sql>) =>
  core.db.execute(sql`
    insert into account_spans (domain_id, app_id, account_id, unique_identifier, account_type, status, since)
    values (${domainId}, ${appId}, ${id}, ${name}, 'USER', 'ACTIVE', ${since})`)

const spansOf = (id: string) =>
  ask<{ status: string; open: boolean; right: boolean }>(
    core,
    sql`select status, until is null as open, coalesce(until >= since, true) as right
      from account_spans where account_id = ${id} order by id`,
  )

test('a reading ends a span and begins another', async () => {
  const id = await suspended('ada')
  await core.db.transaction((tx) => recordReadings(tx, [id]))
  expect(await spansOf(id)).toEqual([
    { status: 'ACTIVE', open: false, right: true },
    { status: 'SUSPENDED', open: true, right: true },
  ])
})

test('a reading without a change writes no span, nor does one of an account that no sync has seen', async () => {
  const id = await suspended('ben')
  await core.db.transaction((tx) => recordReadings(tx, [id]))
  await core.db.transaction((tx) => recordReadings(tx, [id]))
  expect(await spansOf(id)).toHaveLength(2)
  await core.db.execute(sql`delete from account_spans where account_id = ${id}`)
  await core.db.transaction((tx) => recordReadings(tx, [id]))
  expect(await spansOf(id)).toEqual([])
})

test('a reading that waits for a run that replaces the span is not lost', async () => {
  const id = await suspended('mia')
  const waits = Promise.withResolvers<void>()
  const run = core.db.transaction(async (tx) => {
    await tx.execute(sql`update account_spans set until = now() where account_id = ${id}`)
    await tx.execute(sql`
      insert into account_spans (domain_id, app_id, account_id, unique_identifier, account_type, status, since)
      values (${domainId}, ${appId}, ${id}, 'mia', 'USER', 'ACTIVE', clock_timestamp() + interval '1 second')`)
    waits.resolve()
    await new Promise((resolve) => setTimeout(resolve, 500))
  })
  await waits.promise
  await core.db.transaction((tx) => recordReadings(tx, [id]))
  await run
  expect(await spansOf(id)).toEqual([
    { status: 'ACTIVE', open: false, right: true },
    { status: 'ACTIVE', open: false, right: true },
    { status: 'SUSPENDED', open: true, right: true },
  ])
})
