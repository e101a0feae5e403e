import { Pool } from 'pg'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { openGradually } from '../../runtime/database/gradual-pool.ts'
import { type OwnServer, ownServer } from '../kit/own-server.ts'

let own: OwnServer
beforeAll(async () => {
  own = await ownServer({ isEmpty: true })
})

const MAX = 12

function pool(changes: object = {}): Pool {
  const made = new Pool({ ...own.login, max: MAX, connectionTimeoutMillis: 5000, ...changes })
  openGradually(made)
  // After the last test, the stopping server may end connections that are being closed.
  made.on('connect', (client) => client.on('error', () => {}))
  made.on('error', () => {})
  onTestFinished(() => made.end())
  return made
}

const all = <T>(count: number, one: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => one(n)))

test('fast queries that are sent at once use few connections', async () => {
  const many = pool()
  const answers = await all(100, async (n) => (await many.query('select $1::int as n', [n])).rows)
  expect(answers).toEqual(Array.from({ length: 100 }, (_, n) => [{ n }]))
  expect(many.totalCount).toBeLessThan(MAX / 2)
})

test('callers that keep their connections each get one, up to the maximum', async () => {
  const many = pool()
  const together = Promise.withResolvers<void>()
  let held = 0
  await all(MAX, async () => {
    const client = await many.connect()
    held += 1
    if (held === MAX) together.resolve()
    await together.promise
    client.release()
  })
  expect(many.totalCount).toBe(MAX)
  // More queries than connections wait until one is released.
  await all(3 * MAX, () => many.query('select pg_sleep(0.01)'))
  expect(many.totalCount).toBe(MAX)
})

test('a caller that has a connection gets another one', async () => {
  const many = pool()
  await all(MAX / 2, async () => {
    const client = await many.connect()
    await many.query('select 1')
    client.release()
  })
})

test('every query is rejected if no connection can be opened, and none keeps waiting', async () => {
  const none = pool({ host: '/nowhere' })
  const ends = await Promise.allSettled(Array.from({ length: 50 }, () => none.query('select 1')))
  expect(ends.map(({ status }) => status)).toEqual(Array(50).fill('rejected'))
  expect([none.totalCount, none.waitingCount]).toEqual([0, 0])
  await expect(none.connect()).rejects.toThrow('ENOENT')
})

test('a query on an ended pool is refused', async () => {
  const ended = new Pool(own.login)
  openGradually(ended)
  await ended.end()
  await expect(ended.query('select 1')).rejects.toThrow('after calling end')
})
