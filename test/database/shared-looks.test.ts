/** Workers of a host that look for a job share their queries to the database. */
import { expect, test } from 'vitest'
import { createSharedLooks } from '../../runtime/database/shared-looks.ts'

const LOOK = "\n  WITH\n  next AS (select from job where name = 'a') update ..."

const QUEUE = '\n    SELECT\n      q.name,\n      q.policy from queue q where q.name = any($1)'

/** A queue with some jobs; `asked` counts the queries for one. */
function queue(jobs: number) {
  let nowMs = 0
  const state = { jobs, asked: 0 }
  const looks = createSharedLooks(
    async (text) => {
      if (!text.includes('next AS')) return { rows: [] }
      state.asked += 1
      const found = state.jobs > 0
      if (found) state.jobs -= 1
      return { rows: found ? [{}] : [] }
    },
    () => nowMs,
  )
  const all = async (places: number) =>
    (await Promise.all(Array.from({ length: places }, () => looks.ask(LOOK, [])))).filter(
      ({ rows }) => rows.length > 0,
    ).length
  return { state, looks, all, pass: (ms: number) => (nowMs += ms) }
}

test('eight workers that are woken for one job send two queries: one finds it, one finds none', async () => {
  const { state, all } = queue(1)
  expect(await all(8)).toBe(1)
  expect(state.asked).toBe(2)
})

test('each of eight workers finds a job if there are enough', async () => {
  const { all } = queue(20)
  expect(await all(8)).toBe(8)
})

test('a query is sent again after a job was sent or updated', async () => {
  const { state, looks, all } = queue(0)
  await all(8)
  state.jobs = 1
  expect(await all(8)).toBe(0)
  looks.changed()
  expect(await all(8)).toBe(1)
  state.jobs = 1
  await looks.ask('update job set ...')
  expect(await all(8)).toBe(1)
})

test('a job that becomes due is found within a second', async () => {
  const { state, all, pass } = queue(0)
  await all(1)
  state.jobs = 1
  pass(1000)
  expect(await all(1)).toBe(1)
})

test('a failed query fails only for its own worker, and the next worker queries', async () => {
  let asked = 0
  const { ask } = createSharedLooks(async () => {
    asked += 1
    if (asked === 1) throw new Error('away')
    return { rows: [{}] }
  })
  const [first, second] = await Promise.allSettled([ask(LOOK), ask(LOOK)])
  expect([first?.status, second?.status]).toEqual(['rejected', 'fulfilled'])
})

test.each([
  ['at most three of many queues are polled at once, and each gets its turn', LOOK],
  [
    'at most three of many workers of new queues read their queue at once, and each gets its turn',
    QUEUE,
  ],
])('%s', async (_name, text) => {
  const asked: PromiseWithResolvers<{ rows: unknown[] }>[] = []
  const looks = createSharedLooks(() => {
    const one = Promise.withResolvers<{ rows: unknown[] }>()
    asked.push(one)
    return one.promise
  })
  const all = Array.from({ length: 8 }, (_, n) => looks.ask(text, [n]))
  const soon = () => new Promise((resolve) => setImmediate(resolve))
  await soon()
  expect(asked).toHaveLength(3)
  asked[0]?.reject(new Error('away'))
  asked[1]?.resolve({ rows: [] })
  await expect(all[0]).rejects.toThrow('away')
  await soon()
  expect(asked).toHaveLength(5)
  for (const n of [2, 3, 4, 5, 6, 7]) {
    asked[n]?.resolve({ rows: [] })
    await soon()
  }
  await Promise.all(all.slice(1))
  expect(asked).toHaveLength(8)
})
