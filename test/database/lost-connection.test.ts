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

/** A word that cuts the connection in front of the server when it is on its way there. */
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
  'connections that are lost at %s are given back: the next transactions find one, and closing ends',
  async (word) => {
    const { db, close } = await openDatabase({ ...server.connection, host: dataDir }, () => {})
    const work = () =>
      db.transaction(async (tx) => {
        await tx.execute(sql`select 1`)
        if (word === 'rollback') throw new Error('refused')
      })
    cutAt = word
    // More than a host has connections.
    for (let times = 0; times < 25; times += 1)
      await expect(work()).rejects.toThrow(word === 'rollback' ? /^refused$/ : /connection/i)
    cutAt = null
    const { rows } = await db.transaction((tx) => tx.execute(sql`select 7 as seven`))
    expect(rows).toEqual([{ seven: 7 }])
    await close()
  },
)

test('that the server ends connections which are being closed, as when it stops, is not told', async () => {
  const told: Error[] = []
  const { db, close } = await openDatabase(server.connection, (error) => told.push(error))
  const { rows } = await db.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`)
  const pid = Number(rows[0]?.pid)
  const other = new Client(server.connection)
  await other.connect()
  // It hears that it is ended before it reads that it may go.
  process.kill(pid, 'SIGSTOP')
  const closed = close()
  await other.query('select pg_terminate_backend($1)', [pid])
  process.kill(pid, 'SIGCONT')
  await closed
  await until('it has gone', async () => {
    const found = await other.query('select from pg_stat_activity where pid = $1', [pid])
    return found.rowCount === 0
  })
  await other.end()
  expect(told).toEqual([])
})

/** Takes two locks, the second when both sides have their first, and notes that it is done. */
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

test('of two transactions that wait for each other, the one that PostgreSQL ends is done again', async () => {
  const { db, close } = await openDatabase(server.connection, () => {})
  const done: number[] = []
  const times = await Promise.all([crossing(db, 1, 2, done), crossing(db, 2, 1, done)])
  expect([times.sort(), done.sort()]).toEqual([
    [1, 2],
    [1, 2],
  ])
  await close()
})

test('what reads what can be read only once is not done again', async () => {
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

test('the server is told to miss a host that vanished: its locks are free within a minute', async () => {
  // On a socket of the same machine they have no effect and are shown as 0: what is said counts.
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

test('what is told of a connection that is lost at rest holds nothing of the connection', async () => {
  const told: Error[] = []
  const { db, close } = await openDatabase(server.connection, (error) => void told.push(error))
  await db.execute(sql`select 1`)
  const owner = new Client(server.connection)
  await owner.connect()
  await owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'keyway'`,
  )
  await until('it is told', () => told.length > 0)
  for (const error of told) expect(inspect(error, { depth: 5 })).not.toMatch(/secretKey/)
  await owner.end()
  await close()
})
