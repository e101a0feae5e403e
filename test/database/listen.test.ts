import { Client } from 'pg'
import { expect, test, vi } from 'vitest'
import { createListening } from '../../runtime/database/listen.ts'
import { until } from '../e2e/until.ts'
import { afterThisTest } from '../kit/closing.ts'
import { openTestDatabase } from '../kit/databases.ts'

/** A database, a connection to it, and a listener. */
async function opened() {
  const database = await openTestDatabase()
  const owner = new Client(database.login)
  await owner.connect()
  afterThisTest(async () => {
    await owner.end()
    await database.drop()
  })
  /** Process ids of the connections that listen. */
  const listeners = async (): Promise<number[]> => {
    const { rows } = await owner.query(
      "select pid from pg_stat_activity where application_name = 'keyway listening' and datname = current_database()",
    )
    return rows.map(({ pid }) => pid)
  }
  return { owner, listeners, listening: createListening(database.login) }
}

test('all channels share one connection, and each receives its own notifications', async () => {
  const { owner, listeners, listening } = await opened()
  const one = vi.fn()
  const two = vi.fn()
  const endOne = listening.on('one', one)
  const endTwo = listening.on('two', two)
  await expect.poll(() => [one.mock.calls, two.mock.calls]).toEqual([[[null]], [[null]]])
  expect(await listeners()).toHaveLength(1)
  const late = vi.fn()
  const endLate = listening.on('late', late)
  await expect.poll(() => late.mock.calls).toEqual([[null]])
  await owner.query("notify one, 'a'; notify two, 'b'; notify late, 'c'")
  await until('every listener was called', async () => late.mock.calls.length === 2)
  expect([one, two, late].map((hear) => hear.mock.calls.slice(1))).toEqual([
    [['a']],
    [['b']],
    [['c']],
  ])
  await endOne()
  await owner.query("notify one, 'nobody'; notify two, 'again'")
  await expect.poll(() => two.mock.calls.at(-1)).toEqual(['again'])
  expect(one).toHaveBeenCalledTimes(2)
  await Promise.all([endTwo(), endLate()])
  await expect.poll(listeners).toEqual([])
})

test('a lost connection is reopened, and every channel is told that it may have missed notifications', async () => {
  const { owner, listeners, listening } = await opened()
  const one = vi.fn()
  const two = vi.fn()
  const ends = [listening.on('one', one), listening.on('two', two)]
  await expect.poll(() => two.mock.calls).toEqual([[null]])
  const [pid] = await listeners()
  await owner.query('select pg_terminate_backend($1)', [pid])
  const both = () => [one.mock.calls, two.mock.calls]
  await expect.poll(both, { timeout: 20_000 }).toEqual([
    [[null], [null]],
    [[null], [null]],
  ])
  await owner.query("notify two, 'after'")
  await expect.poll(() => two.mock.calls.at(-1)).toEqual(['after'])
  await Promise.all(ends.map((end) => end()))
  await expect.poll(listeners).toEqual([])
})
