/** The log is append-only, and verification detects changes that are made in spite of it. */

import { sql } from 'drizzle-orm'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordActivity } from '../../../../runtime/core/kernel/audit/activity.ts'
import { verifyActivity } from '../../../../runtime/core/kernel/audit/chain.ts'
import { hashOf } from '../../../../runtime/core/kernel/audit/entry-hash.ts'
import { chainWaiting } from '../../../../runtime/core/kernel/audit/unchained-entries.ts'
import type { Db } from '../../../../runtime/database/database.ts'
import { openDatabase } from '../../../../runtime/database/open.ts'
import { activityLogs } from '../../../../runtime/database/schema/audit.ts'
import { type CoreHost, domainOf, person, startCore } from '../../host.ts'
import { storedLog } from '../../log.ts'
import { eventNamed } from './event-named.ts'

let core: CoreHost
let domainId: string
/** The login role, which owns the tables. */
let owner: Client

beforeAll(async () => {
  core = await startCore({}, { server: 'own' })
  domainId = await domainOf(core.db)
  owner = new Client(await core.login())
  await owner.connect()
  const ada = await person(core.db, 'ada@example.com')
  for (const role of ['Auditor', 'App Admin', 'Vendor Owner'])
    await core.call('POST', `/users/${ada.id}/roles/${encodeURIComponent(role)}`)
})
afterAll(async () => {
  await owner.end()
  await core.stop()
})

const codeOf = async (asked: PromiseLike<unknown>): Promise<string | undefined> => {
  try {
    await asked
  } catch (error) {
    const { cause = error } = error as { cause?: unknown }
    return (cause as { code?: string }).code
  }
  return undefined
}

const CHANGES = [
  "update activity_logs set outcome = 'Failed'",
  'delete from activity_logs',
  'truncate activity_logs',
  "update activity_waiting set body = ''",
  'delete from activity_waiting',
  'truncate activity_waiting',
]

test.each([
  ...CHANGES,
  'alter table activity_logs disable trigger all',
  'alter table activity_waiting disable trigger all',
  'drop trigger activity_logs_append_only on activity_logs',
  'drop trigger activity_logs_unchanged on activity_logs',
  'drop table activity_logs',
  'set role keyway',
  "set session_replication_role = 'replica'",
  'create table mine (n int)',
])('the host itself is refused: %s', async (statement) => {
  expect(await codeOf(core.db.execute(sql.raw(statement)))).toBe('42501')
})

test.each(CHANGES)('the owner of the table is refused: %s', async (statement) => {
  await owner.query("set session_replication_role = 'replica'")
  expect(await codeOf(owner.query(statement))).toBe('42501')
  await owner.query('reset session_replication_role')
})

test('the role of the host stays the same after a reset of the role or a discard of the session', async () => {
  for (const statement of ['reset role', 'reset session authorization', 'discard all']) {
    await core.db.execute(sql.raw(statement))
    const { rows } = await core.db.execute('select current_user, session_user')
    expect(rows).toEqual([{ current_user: 'keyway_app', session_user: 'keyway_app' }])
  }
})

test('a host of the previous version, which connects as the owner, can still read and write the log', async () => {
  // The host may record entries of its own in between.
  const before = await core.db.$count(activityLogs)
  const { rows } = await owner.query('select count(*)::int as n from activity_logs')
  expect(rows[0].n).toBeGreaterThanOrEqual(before)
  expect(rows[0].n).toBeLessThanOrEqual(await core.db.$count(activityLogs))
  await owner.query('begin')
  const inserted = await owner.query(
    "insert into activity_logs (domain_id, event_hash, event_type, outcome, actor, targets, event_metadata) values ($1, 'x', 'X', 'Succeeded', '{}', '[]', '{}')",
    [domainId],
  )
  expect(inserted.rowCount).toBe(1)
  await owner.query('rollback')
})

test('tables that were created later can be used after the next start', async () => {
  await owner.query('create table later (n serial primary key)')
  const again = await openDatabase(await core.login(), () => {})
  await again.db.execute('insert into later default values')
  await again.close()
  await owner.query('drop table later')
})

describe('the entries of a transaction', () => {
  const record = (tx: Db, eventType: string) =>
    recordActivity(tx, { domainId, userId: null }, eventNamed(eventType), [], {})

  const latest = async (count: number): Promise<string[]> =>
    (await storedLog(core.db)).slice(-count).map(({ eventType }) => eventType)

  test('are written in order, without those of a rolled back savepoint, and block no other transaction', async () => {
    await core.db.transaction(async (tx) => {
      await record(tx, 'FIRST')
      await tx.transaction((sub) => record(sub, 'SECOND'))
      await tx
        .transaction(async (sub) => {
          await record(sub, 'UNDONE')
          throw new Error('roll back')
        })
        .catch(() => {})
      // Another transaction commits while this one is open.
      await core.db.transaction((other) => record(other, 'ANOTHER'))
      await record(tx, 'THIRD')
    })
    expect(await latest(4)).toEqual(['ANOTHER', 'FIRST', 'SECOND', 'THIRD'])
    const whole = await verifyActivity(core.db, domainId)
    expect(whole.broken).toBeNull()
  })

  test('are lost with a rolled back transaction; an entry outside a transaction is written', async () => {
    const failed = core.db.transaction(async (tx) => {
      await record(tx, 'LOST')
      throw new Error('roll back')
    })
    await expect(failed).rejects.toThrow('roll back')
    await record(core.db, 'ALONE')
    expect(await latest(2)).toEqual(['THIRD', 'ALONE'])
  })

  test('form a valid chain with any content, also with concurrent writers', async () => {
    const odd = { 'é\u0001"\\\u007f\u2028😀': ['\n\t', 1e21, -0.5, null, { b: 1, a: '€' }] }
    await Promise.all(
      Array.from({ length: 20 }, () =>
        core.db.transaction(async (tx) => {
          const target = [{ target_type: 'X', name: 'ä "quoted" \\', id: '1' }]
          await recordActivity(
            tx,
            { domainId, userId: null },
            eventNamed('ODD'),
            target,
            odd,
            'Failed',
          )
          await record(tx, 'PLAIN')
        }),
      ),
    )
    const { length } = await storedLog(core.db)
    const whole = await verifyActivity(core.db, domainId)
    expect(whole).toMatchObject({ broken: null, rows: length, waiting: 0 })
  })
})

describe('on a server of the operator', () => {
  const urlOf = async (user: string, password: string): Promise<string> => {
    const { host } = await core.login()
    return `postgres://${user}:${password}@localhost/${user}?host=${encodeURIComponent(String(host))}`
  }

  /** A login with a database of its own. */
  async function login(name: string, rights: string): Promise<string> {
    await owner.query(`create role ${name} login password 'secret' ${rights}`)
    await owner.query(`create database ${name} owner ${name}`)
    return urlOf(name, 'secret')
  }

  const refused = async (url: string, statement: string, warnings: string[]) => {
    const one = await openDatabase(
      { connectionString: url },
      () => {},
      (text) => warnings.push(text),
    )
    try {
      return await codeOf(one.db.execute(sql.raw(statement)))
    } finally {
      await one.close()
    }
  }

  test('a login that may not create roles gets a warning, and the triggers protect the log', async () => {
    const url = await login('plain', '')
    const warnings: string[] = []
    expect(await refused(url, 'delete from activity_logs', warnings)).toBe('42501')
    expect(warnings).toEqual([expect.stringMatching(/only triggers .*create role keyway_app/)])
  })

  test('sessions of a login that may create roles switch to the less privileged role', async () => {
    // The role exists already, because roles are shared by the whole server.
    const url = await login('maker', 'createrole')
    await owner.query('grant keyway_app to maker with admin option')
    const warnings: string[] = []
    const statement = 'alter table activity_logs disable trigger all'
    expect(await refused(url, statement, warnings)).toBe('42501')
    expect(await refused(url, 'delete from activity_logs', warnings)).toBe('42501')
    expect(await refused(url, 'select * from users', warnings)).toBeUndefined()
    expect(warnings).toEqual([])
  })
})

/** The triggers that protect the log. */
const TRIGGERS = ['activity_logs_append_only', 'activity_logs_unchanged']

describe('the chain of the log', () => {
  test('verifies from the stored rows', async () => {
    const seen: number[] = []
    const { length } = await storedLog(core.db)
    const whole = await verifyActivity(core.db, domainId, { onRows: (rows) => seen.push(rows) })
    expect(whole).toMatchObject({ rows: length, broken: null, found: true })
    expect(seen).toEqual([length])
    const { body } = await core.call('GET', '/activity_logs')
    expect(whole.head).toBe(body.items.at(-1).event_hash)
  })

  /** Tampers with the log as only an administrator of the server can, and restores it. */
  async function tampered<T>(statement: string, look: () => Promise<T>): Promise<T> {
    await chainWaiting(core.db, domainId)
    const rows = (await owner.query('select * from activity_logs order by id')).rows
    for (const one of TRIGGERS)
      await owner.query(`alter table activity_logs disable trigger ${one}`)
    try {
      await owner.query(statement)
      return await look()
    } finally {
      await owner.query('delete from activity_logs')
      for (const row of rows) {
        const values = [row.id, row.domain_id, row.event_hash, row.event_type, row.outcome]
        const json = [row.actor, row.targets, row.event_metadata].map((one) => JSON.stringify(one))
        await owner.query('insert into activity_logs values ($1,$2,$3,$4,$5,$6,$7,$8,$9)', [
          ...values,
          ...json,
          row.event_began_at,
        ])
      }
      for (const one of TRIGGERS)
        await owner.query(`alter table activity_logs enable always trigger ${one}`)
    }
  }

  test.each([
    ['the actor', `actor = '{"email":"somebody@else"}'`],
    ['the outcome', "outcome = 'Failed'"],
    ['the time', "event_began_at = event_began_at - interval '1 day'"],
    ['the metadata', `event_metadata = '{"role":"User"}'`],
    ['the hash', "event_hash = repeat('0', 128)"],
  ])('breaks at the row in which %s was changed', async (_what, change) => {
    const [, second] = await storedLog(core.db)
    const verdict = await tampered(
      `update activity_logs set ${change} where id = ${second?.id}`,
      () => verifyActivity(core.db, domainId),
    )
    expect(verdict).toMatchObject({ rows: 1, broken: { id: second?.id } })
  })

  test('breaks after a row that was removed, and after one that was inserted', async () => {
    const [first, second, third] = await storedLog(core.db)
    const removed = await tampered(`delete from activity_logs where id = ${second?.id}`, () =>
      verifyActivity(core.db, domainId),
    )
    expect(removed).toMatchObject({ rows: 1, broken: { id: third?.id } })
    const forged = await tampered(
      `insert into activity_logs select -5, domain_id, event_hash, event_type, outcome, actor, targets, event_metadata, event_began_at from activity_logs where id = ${first?.id}`,
      () => verifyActivity(core.db, domainId),
    )
    // The forged row fits the beginning, so the chain breaks at the true first row, which now follows it.
    expect(forged).toMatchObject({ broken: { id: first?.id } })
  })

  test('verifies with its end cut off, but lacks the hash that was noted', async () => {
    const all = await storedLog(core.db)
    const { head } = await verifyActivity(core.db, domainId)
    expect(await verifyActivity(core.db, domainId, { find: head })).toMatchObject({ found: true })
    const cut = await tampered(`delete from activity_logs where id = ${all.at(-1)?.id}`, () =>
      verifyActivity(core.db, domainId, { find: head }),
    )
    expect(cut).toMatchObject({ rows: all.length - 1, broken: null, found: false })
  })

  test('has the same hash for the same content in another order of members', () => {
    const row = {
      domainId,
      eventType: 'X',
      outcome: 'Succeeded' as const,
      actor: { a: 1, b: { c: 2, d: 3 } },
      targets: [],
      metadata: {},
      beganAt: new Date(0),
    }
    const other = { ...row, actor: { b: { d: 3, c: 2 }, a: 1 } }
    expect(hashOf('x', other)).toBe(hashOf('x', row))
    expect(hashOf('y', row)).not.toBe(hashOf('x', row))
  })
})
