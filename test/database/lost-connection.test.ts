import { createConnection, createServer, type Server } from 'node:net'
import path from 'node:path'
import { inspect } from 'node:util'
import { sql } from 'drizzle-orm'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isContended, NO_RETRY } from '../../runtime/database/contention.ts'
import type { Db } from '../../runtime/database/database.ts'
import type { EmbeddedDatabase } from '../../runtime/database/embedded.ts'
import { openDatabase } from '../../runtime/database/open.ts'
import { sessionSettings } from '../../runtime/database/session.ts'
import { until } from '../e2e/until.ts'
import { ownServer } from '../kit/own-server.ts'

/** A statement that cuts the connection when it is sent to the server. */
let cutAt: string | null = null
let dataDir: string
let server: EmbeddedDatabase
let front: Server

beforeAll(async () => {
  ;({ dataDir, server } = await ownServer())
  const behind = path.join(String(server.connection.host), '.s.PGSQL.5432')
  front = createServer((caller) => {
    const upstream = createConnection(behind)
    const end = () => {
      caller.destroy()
      upstream.destroy()
    }
    for (const socket of [caller, upstream]) socket.on('error', end).on('close', end)
    caller.on('data', (chunk) => {
      if (cutAt !== null && chunk.includes(cutAt)) end()
      else upstream.write(chunk)
    })
    upstream.on('data', (chunk) => caller.write(chunk))
  })
  await new Promise<void>((resolve) => front.listen(path.join(dataDir, '.s.PGSQL.5432'), resolve))
})
afterAll(() => void front.close())

test.each(['begin', 'commit', 'rollback'])(
  'connections lost at %s return to the pool: later transactions get one, and closing completes',
  async (word) => {
    const { db, close } = await openDatabase({ ...server.connection, host: dataDir }, () => {})
    const work = () =>
      db.transaction(async (tx) => {
        await tx.execute(sql`select 1`)
        if (word === 'rollback') throw new Error('refused')
      })
    cutAt = word
    // More often than a host has connections.
    for (let times = 0; times < 25; times += 1)
      await expect(work()).rejects.toThrow(word === 'rollback' ? /^refused$/ : /connection/i)
    cutAt = null
    const { rows } = await db.transaction((tx) => tx.execute(sql`select 7 as seven`))
    expect(rows).toEqual([{ seven: 7 }])
    await close()
  },
)

test('a connection that the server ends while it is being closed is not reported', async () => {
  const errors: Error[] = []
  const { db, close } = await openDatabase(server.connection, (error) => errors.push(error))
  const { rows } = await db.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`)
  const pid = Number(rows[0]?.pid)
  const other = new Client(server.connection)
  await other.connect()
  // The session receives the termination before it reads that it may close.
  process.kill(pid, 'SIGSTOP')
  const closed = close()
  await other.query('select pg_terminate_backend($1)', [pid])
  process.kill(pid, 'SIGCONT')
  await closed
  await until('the backend has ended', async () => {
    const found = await other.query('select from pg_stat_activity where pid = $1', [pid])
    return found.rowCount === 0
  })
  await other.end()
  expect(errors).toEqual([])
})

/** Takes two locks, the second once both sides have their first, and records that it is done. */
const crossing = (
  db: Db,
  first: number,
  second: number,
  done: number[],
  config?: typeof NO_RETRY,
) => {
  let times = 0
  return db.transaction(async (tx) => {
    times += 1
    await tx.execute(sql`select pg_advisory_xact_lock(${first})`)
    if (times === 1) await meeting.arrive()
    await tx.execute(sql`select pg_advisory_xact_lock(${second})`)
    done.push(first)
    return times
  }, config)
}

const meeting = {
  waiting: [] as (() => void)[],
  async arrive() {
    await new Promise<void>((resolve) => {
      this.waiting.push(resolve)
      if (this.waiting.length < 2) return
      for (const go of this.waiting.splice(0)) go()
    })
  },
}

test('of two deadlocked transactions, the one that PostgreSQL aborts is retried', async () => {
  const { db, close } = await openDatabase(server.connection, () => {})
  const done: number[] = []
  const times = await Promise.all([crossing(db, 1, 2, done), crossing(db, 2, 1, done)])
  expect([times.sort(), done.sort()]).toEqual([
    [1, 2],
    [1, 2],
  ])
  await close()
})

test('a deadlocked transaction with NO_RETRY is not retried', async () => {
  const { db, close } = await openDatabase(server.connection, () => {})
  const done: number[] = []
  const ends = await Promise.allSettled([
    crossing(db, 1, 2, done, NO_RETRY),
    crossing(db, 2, 1, done, NO_RETRY),
  ])
  expect([ends.map(({ status }) => status).sort(), done.length]).toEqual([
    ['fulfilled', 'rejected'],
    1,
  ])
  expect(ends.some((end) => end.status === 'rejected' && isContended(end.reason))).toBe(true)
  await close()
})

test('sessions set TCP keepalives, so that the locks of a vanished host are free within a minute', async () => {
  // On a local socket these have no effect and are shown as 0, so the settings that are sent are checked.
  const client = new Client(server.connection)
  await client.connect()
  expect((await sessionSettings(client)).split('; ')).toEqual(
    expect.arrayContaining([
      `set tcp_keepalives_count = '3'`,
      `set tcp_keepalives_idle = '30'`,
      `set tcp_keepalives_interval = '10'`,
      `set tcp_user_timeout = '60000'`,
    ]),
  )
  await client.end()
})

test('the error reported for a lost idle connection contains no secret of the connection', async () => {
  const errors: Error[] = []
  const { db, close } = await openDatabase(server.connection, (error) => void errors.push(error))
  await db.execute(sql`select 1`)
  const owner = new Client(server.connection)
  await owner.connect()
  await owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'keyway'`,
  )
  await until('the error is reported', () => errors.length > 0)
  for (const error of errors) expect(inspect(error, { depth: 5 })).not.toMatch(/secretKey/)
  await owner.end()
  await close()
})
