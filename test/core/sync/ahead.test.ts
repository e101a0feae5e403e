/** Which pages are requested while others are being written. */
import { expect, test } from 'vitest'
import { type FetchedPage, readAhead } from '../../../runtime/core/sync/ahead.ts'

/** A scripted system that returns each page when the test lets it; the token of the second page is `1`. */
function system(pages: number, rowsOf: (n: number) => unknown[] = (n) => [n]) {
  const asked: (string | null)[] = []
  const gates = new Map<number, ReturnType<typeof Promise.withResolvers<void>>>()
  const gate = (n: number) => {
    const one = gates.get(n) ?? Promise.withResolvers<void>()
    gates.set(n, one)
    return one
  }
  return {
    asked,
    let: (n: number) => gate(n).resolve(),
    refuse: (n: number) => gate(n).reject(new Error(`page ${n} is lost`)),
    async fetch(token: string | null): Promise<FetchedPage<unknown[]>> {
      asked.push(token)
      const n = Number(token ?? 0)
      await gate(n).promise
      const found = rowsOf(n)
      const next = n + 1 < pages ? String(n + 1) : null
      return { found, count: found.length, token: next, bytes: JSON.stringify(found).length }
    },
  }
}

/** Runs everything that is ready; each page takes a turn of the event loop. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

const always = () => true
const arrive = (rows: unknown[]) => rows
const firstRows = (pages: FetchedPage<unknown[]>[]) => pages.map(({ found }) => found[0])

test('a page of a slow system is taken when it arrives, and the next one is already requested', async () => {
  const { asked, fetch, ...slow } = system(3)
  const ahead = readAhead({ fetch, arrive, token: null, goesOn: always })
  slow.let(0)
  expect(firstRows(await ahead.take())).toEqual([0])
  expect(asked).toEqual([null, '1'])
  slow.let(1)
  expect(firstRows(await ahead.take())).toEqual([1])
  slow.let(2)
  expect(firstRows(await ahead.take())).toEqual([2])
  expect(await ahead.take()).toEqual([])
})

test('pages of a fast system that arrive while others are being written are taken together', async () => {
  const { asked, fetch, ...fast } = system(5)
  const ahead = readAhead({ fetch, arrive, token: '1', goesOn: always })
  for (const n of [1, 2, 3, 4]) fast.let(n)
  await settle()
  expect(firstRows(await ahead.take())).toEqual([1, 2, 3, 4])
  expect(await ahead.take()).toEqual([])
  expect(asked).toEqual(['1', '2', '3', '4'])
})

test.each([
  ['rows', (): unknown[] => Array.from({ length: 6000 }, (_, n) => n)],
  ['bytes', (): unknown[] => ['x'.repeat(2_500_000)]],
])('no page is requested while too many %s are waiting', async (_, rowsOf) => {
  const { asked, fetch, ...fast } = system(9, rowsOf)
  const ahead = readAhead({ fetch, arrive, token: null, goesOn: always })
  for (let n = 0; n < 9; n += 1) fast.let(n)
  await settle()
  expect(asked).toEqual([null, '1'])
  expect(await ahead.take()).toHaveLength(2)
  await settle()
  expect(asked).toEqual([null, '1', '2', '3'])
})

test('pages before a page that fails are taken first', async () => {
  const { fetch, ...one } = system(4)
  const ahead = readAhead({ fetch, arrive, token: null, goesOn: always })
  one.let(0)
  one.let(1)
  one.refuse(2)
  await settle()
  expect(firstRows(await ahead.take())).toEqual([0, 1])
  await expect(ahead.take()).rejects.toThrow('page 2 is lost')
})

test('no page is requested once others wait, or after a stop', async () => {
  let goesOn = true
  const over = system(4)
  const ahead = readAhead({ fetch: over.fetch, arrive, token: null, goesOn: () => goesOn })
  over.let(0)
  await settle()
  goesOn = false
  over.let(1)
  await settle()
  expect(firstRows(await ahead.take())).toEqual([0, 1])
  expect(await ahead.take()).toEqual([])
  expect(over.asked).toEqual([null, '1'])

  const stopped = system(4)
  const other = readAhead({ fetch: stopped.fetch, arrive, token: null, goesOn: always })
  other.stop()
  stopped.let(0)
  await settle()
  expect(stopped.asked).toEqual([null])
})

test('a page is parsed only after the next one was requested and a turn has passed', async () => {
  const { asked, fetch, ...fast } = system(3)
  const made: unknown[][] = []
  const ahead = readAhead({
    fetch,
    arrive(rows) {
      made.push([...rows, ...asked])
      return rows.map((row) => `row ${row}`)
    },
    token: null,
    goesOn: always,
  })
  fast.let(0)
  await Promise.resolve().then(() => {})
  expect(made).toEqual([])
  expect(firstRows(await ahead.take())).toEqual(['row 0'])
  expect(made).toEqual([[0, null, '1']])
  fast.refuse(2)
  fast.let(1)
  // The failure of a later page does not hide a page that has arrived.
  expect(firstRows(await ahead.take())).toEqual(['row 1'])
  await expect(ahead.take()).rejects.toThrow('page 2 is lost')
})

test('a page that cannot be parsed fails when it is taken, and no later page is taken', async () => {
  const { fetch, ...fast } = system(4)
  const failOnPage1 = (rows: unknown[]) => {
    if (rows[0] === 1) throw new Error('page 1 holds no rows')
    return rows
  }
  const ahead = readAhead({ fetch, arrive: failOnPage1, token: null, goesOn: always })
  for (const n of [0, 1, 2]) fast.let(n)
  fast.refuse(3)
  await settle()
  expect(firstRows(await ahead.take())).toEqual([0])
  await expect(ahead.take()).rejects.toThrow('page 1 holds no rows')
})
