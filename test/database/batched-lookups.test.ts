/** Lookups that are requested at once are sent as one query; no result is older than its request. */
import { drizzle } from 'drizzle-orm/node-postgres'
import { expect, test } from 'vitest'
import { together } from '../../runtime/database/batched-lookups.ts'
import type { Db } from '../../runtime/database/database.ts'

type Row = { key: string; value: number }

/** A database of one value, whose answers the test controls. */
function asked() {
  const db: Db = drizzle.mock()
  const questions: { keys: readonly string[]; end(error?: Error): void }[] = []
  const now = { value: 0 }
  const look = together<Row>(
    async (_db, keys) => {
      const seen = now.value
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      questions.push({ keys, end: (error) => (error ? reject(error) : resolve()) })
      await promise
      return keys.filter((key) => key !== 'none').map((key) => ({ key, value: seen }))
    },
    ({ key }) => key,
  )
  const keys = () => questions.map((one) => one.keys)
  return { db, look, questions, keys, now }
}

test('lookups that are requested while another runs are sent as one, and each gets its own rows', async () => {
  const { db, look, questions, keys } = asked()
  const first = look(db, 'a')
  await Promise.resolve()
  const others = ['b', 'c', 'b', 'none'].map((key) => look(db, key))
  expect(keys()).toEqual([['a']])
  questions[0]?.end()
  expect(await first).toEqual([{ key: 'a', value: 0 }])
  questions[1]?.end()
  const found = (await Promise.all(others)).map((rows) => rows.map(({ key }) => key))
  expect(found).toEqual([['b'], ['c'], ['b'], []])
  expect(keys()).toEqual([['a'], ['b', 'c', 'none']])
})

test('a lookup never returns what was read before it was requested', async () => {
  const { db, look, questions, now } = asked()
  const first = look(db, 'a')
  await Promise.resolve()
  now.value = 1
  const second = look(db, 'a')
  questions[0]?.end()
  expect(await first).toEqual([{ key: 'a', value: 0 }])
  questions[1]?.end()
  expect(await second).toEqual([{ key: 'a', value: 1 }])
})

test('a failed query rejects all its lookups, and the next lookup queries again', async () => {
  const { db, look, questions } = asked()
  const both = [look(db, 'a'), look(db, 'b')]
  await Promise.resolve()
  const last = look(db, 'c')
  questions[0]?.end(new Error('lost'))
  for (const one of both) await expect(one).rejects.toThrow('lost')
  questions[1]?.end()
  expect(await last).toEqual([{ key: 'c', value: 0 }])
})

test('lookups do not wait for one that hangs, and a query has at most a hundred keys', async () => {
  const { db, look, questions, keys } = asked()
  void look(db, 'hangs')
  await Promise.resolve()
  const many = Array.from({ length: 101 }, (_, n) => look(db, `${n}`))
  expect(keys().map(({ length }) => length)).toEqual([1, 100])
  const late = look(db, 'late')
  await expect.poll(() => keys().at(-1)).toEqual(['100', 'late'])
  for (const { end } of questions.slice(1)) end()
  expect(await late).toEqual([{ key: 'late', value: 0 }])
  expect(await Promise.all(many)).toHaveLength(101)
})

test('a lookup within a transaction is sent separately', async () => {
  const { db, look, questions, keys } = asked()
  void look(db, 'a')
  await Promise.resolve()
  // The cast is safe: `look` reads nothing else of a transaction.
  const tx = { rollback: () => undefined } as unknown as Db
  const inside = look(tx, 'b')
  expect(keys()).toEqual([['a'], ['b']])
  questions[1]?.end()
  expect(await inside).toEqual([{ key: 'b', value: 0 }])
})
