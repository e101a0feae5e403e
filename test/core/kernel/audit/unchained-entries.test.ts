/** Entries wait to be chained, and are chained once and in a valid order, despite concurrency and kills. */

import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordActivity } from '../../../../runtime/core/kernel/audit/activity.ts'
import { verifyActivity } from '../../../../runtime/core/kernel/audit/chain.ts'
import { bodyOf } from '../../../../runtime/core/kernel/audit/entry-hash.ts'
import { chainWaiting } from '../../../../runtime/core/kernel/audit/unchained-entries.ts'
import type { Db } from '../../../../runtime/database/database.ts'
import { lockNumber } from '../../../../runtime/database/locks.ts'
import { until } from '../../../e2e/until.ts'
import { type CoreHost, domainOf, startCore } from '../../host.ts'
import { storedLog } from '../../log.ts'
import { eventNamed } from './event-named.ts'

const LOCK = lockNumber('chaining the log')

let core: CoreHost
let domainId: string
/** Another session, of the role that owns the tables. */
let other: Client

beforeAll(async () => {
  core = await startCore()
  domainId = await domainOf(core.db)
  other = new Client(await core.login())
  await other.connect()
})
afterAll(async () => {
  await other.end()
  await core.stop()
})

const record = (db: Db, eventType: string, metadata: Record<string, unknown> = {}) =>
  recordActivity(db, { domainId, userId: null }, eventNamed(eventType), [], metadata)

const entry = (eventType: string) =>
  bodyOf({ domainId, eventType, outcome: 'Succeeded', actor: {}, targets: [], metadata: {} })

const chained = async (...types: string[]) =>
  (await storedLog(core.db)).filter(({ eventType }) => types.includes(eventType))

/** Runs `work` while no session can chain. */
async function unchained<T>(work: () => Promise<T>): Promise<T> {
  await chainWaiting(core.db, domainId)
  await other.query('select pg_advisory_lock($1)', [LOCK])
  try {
    return await work()
  } finally {
    await other.query('select pg_advisory_unlock($1)', [LOCK])
  }
}

test('writers do not wait for chaining, and verification counts the entries that wait', async () => {
  // Entries of the start of the host may still wait.
  await core.host.settled
  await core.call('GET', '/activity_logs?limit=1')
  const before = await verifyActivity(core.db, domainId)
  expect(before.waiting).toBe(0)
  await unchained(async () => {
    await core.db.transaction((tx) => record(tx, 'WAITS'))
    await record(core.db, 'WAITS')
    const { rows, head } = before
    expect(await verifyActivity(core.db, domainId)).toMatchObject({
      ...{ rows, head, broken: null },
      waiting: 2,
    })
  })
  const { body } = await core.call('GET', '/activity_logs?limit=100')
  const types = body.items.map(({ event_type }: { event_type: string }) => event_type)
  expect(types.slice(-2)).toEqual(['WAITS', 'WAITS'])
  expect(await verifyActivity(core.db, domainId)).toMatchObject({
    ...{ rows: before.rows + 2, broken: null, waiting: 0 },
  })
})

test('a host chains waiting entries without a reader', async () => {
  await record(core.db, 'BY_ITSELF')
  await until('the entry is chained', async () => {
    const { rows } = await other.query("select from activity_logs where event_type = 'BY_ITSELF'")
    return rows.length === 1
  })
})

test('an entry that commits late follows those chained before it, and its time does not go back', async () => {
  await other.query('begin')
  await other.query('insert into activity_waiting (domain_id, body) values ($1, $2)', [
    domainId,
    entry('LATE'),
  ])
  await record(core.db, 'SOON')
  expect(await chained('LATE', 'SOON')).toMatchObject([{ eventType: 'SOON' }])
  await other.query('commit')
  const [soon, late] = await chained('LATE', 'SOON')
  expect([soon?.eventType, late?.eventType]).toEqual(['SOON', 'LATE'])
  expect(late?.beganAt.getTime()).toBeGreaterThanOrEqual(soon?.beganAt.getTime() ?? Infinity)
  expect(await verifyActivity(core.db, domainId)).toMatchObject({ broken: null, waiting: 0 })
})

test('a time ahead of the clock is not passed on to later entries', async () => {
  await other.query(
    "insert into activity_waiting (domain_id, body, began_at) values ($1, $2, '2999-01-01')",
    [domainId, entry('AHEAD')],
  )
  await record(core.db, 'AFTER')
  const [ahead, after] = await chained('AHEAD', 'AFTER')
  expect(ahead?.beganAt.getUTCFullYear()).toBe(2999)
  expect(after?.beganAt.getUTCFullYear()).toBeLessThan(2999)
  expect(await verifyActivity(core.db, domainId)).toMatchObject({ broken: null })
})

test('concurrent sessions that write and chain leave no entry out and chain none twice', async () => {
  const sessions = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const client = new Client(await core.login())
      await client.connect()
      return client
    }),
  )
  const writing = Array.from({ length: 8 }, async (_, writer) => {
    for (let n = 0; n < 25; n += 1)
      await core.db.transaction((tx) => record(tx, 'MANY', { which: `${writer} ${n}` }))
  })
  const done = Promise.all(writing)
  const chaining = sessions.map(async (client) => {
    for (let n = 0; n < 25; n += 1) await chainWaiting(drizzle(client), domainId)
  })
  await Promise.all([done, ...chaining])
  const seen = (await chained('MANY')).map(({ metadata }) => metadata['which'])
  expect(seen).toHaveLength(200)
  expect(new Set(seen).size).toBe(200)
  // The entries of each writer are in its order.
  for (let writer = 0; writer < 8; writer += 1)
    expect(seen.filter((which) => String(which).startsWith(`${writer} `))).toEqual(
      Array.from({ length: 25 }, (_, n) => `${writer} ${n}`),
    )
  expect(await verifyActivity(core.db, domainId)).toMatchObject({ broken: null, waiting: 0 })
  await Promise.all(sessions.map((client) => client.end()))
})

test('a session that is killed while chaining leaves the entries waiting, and another chains them', async () => {
  const killed = new Client(await core.login())
  killed.on('error', () => {})
  await killed.connect()
  const { rows } = await killed.query('select pg_backend_pid() as pid')
  await unchained(async () => {
    await record(core.db, 'KILLED')
    await killed.query('begin')
    // Uses another lock number, because the usual lock is held so that no one else chains.
    const some = await killed.query('select chain_activity($1, 1000, 1, true) as n', [domainId])
    expect(some.rows).toEqual([{ n: 1 }])
    await other.query('select pg_terminate_backend($1, 5000)', [rows[0].pid])
    expect(await verifyActivity(core.db, domainId)).toMatchObject({ broken: null, waiting: 1 })
  })
  expect(await chained('KILLED')).toHaveLength(1)
  expect(await verifyActivity(core.db, domainId)).toMatchObject({ broken: null, waiting: 0 })
})

test('an entry that the database cannot read fails its transaction and does not block the chain', async () => {
  await expect(
    core.db.transaction((tx) => record(tx, 'UNREADABLE', { text: 'a\u0000b' })),
  ).rejects.toThrow()
  await record(core.db, 'READABLE')
  expect(await chained('UNREADABLE', 'READABLE')).toMatchObject([{ eventType: 'READABLE' }])
})

test('a reader gets more entries than one transaction chains', async () => {
  const bodies = Array.from({ length: 2500 }, () => entry('BULK'))
  await unchained(() =>
    other.query(
      'insert into activity_waiting (domain_id, body) select $1, body from unnest($2::text[]) body',
      [domainId, bodies],
    ),
  )
  expect(await chained('BULK')).toHaveLength(2500)
  expect(await verifyActivity(core.db, domainId)).toMatchObject({ broken: null, waiting: 0 })
})

test('entries of a host of the previous version are chained, too', async () => {
  await core.db.execute(sql`select write_activity(${domainId}, array[${entry('BEFORE')}], ${LOCK})`)
  expect(await chained('BEFORE')).toHaveLength(1)
  expect(await verifyActivity(core.db, domainId)).toMatchObject({ broken: null })
})
