/** The accounts of a run that are known by their external ids. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  createKnownAccounts,
  type KnownAccounts,
} from '../../../runtime/core/sync/known-accounts.ts'
import { idBytes } from './id-bytes.ts'

/** Adds a batch of accounts. */
const add = (known: KnownAccounts, accounts: readonly { id: string; external: string }[]) =>
  known.add(
    idBytes(accounts.map(({ id }) => id)),
    accounts.map(({ external }) => external),
  )

const uuidAt = (ids: Uint8Array, place: number): string => {
  const hex = Buffer.from(ids.subarray(place * 16, place * 16 + 16)).toString('hex')
  return [8, 12, 16, 20, 32].map((end, n) => hex.slice([0, 8, 12, 16, 20][n], end)).join('-')
}

test('an account is found by its external id, whatever characters that contains', () => {
  const known = createKnownAccounts()
  expect(known.placeOf('ada')).toBeUndefined()
  const externals = ['ada', 'Ada', 'uid=ada,dc=a', 'Ünal \u{1f642}', ' ', '0', '__proto__']
  const accounts = externals.map((external) => ({ id: randomUUID(), external }))
  add(known, accounts.slice(0, 3))
  add(known, accounts.slice(3))
  expect(known.size()).toBe(accounts.length)
  for (const { id, external } of accounts)
    expect(uuidAt(known.ids(), known.placeOf(external) ?? -1)).toBe(id)
  expect(externals.map((external) => known.textAt(known.placeOf(external) ?? -1))).toEqual(
    externals,
  )
  expect(known.placeOf('ad')).toBeUndefined()
  expect(known.placeOf('')).toBeUndefined()
  known.forget()
  expect([known.size(), known.placeOf('ada')]).toEqual([0, undefined])
})

test('at most 200,000 accounts are known, and none is mistaken for another', () => {
  const known = createKnownAccounts()
  const id = randomUUID()
  const accountsFrom = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => ({ id, external: `u${from + n}` }))
  for (let from = 0; from < 210_000; from += 10_000) add(known, accountsFrom(from, 10_000))
  // A few find no free slot near theirs.
  expect(known.size()).toBeGreaterThan(190_000)
  expect(known.size()).toBeLessThanOrEqual(200_000)
  const places = accountsFrom(0, 210_000).map(({ external }) => known.placeOf(external))
  const there = places.filter((place) => place !== undefined)
  expect(there).toHaveLength(known.size())
  expect(new Set(there).size).toBe(there.length)
  expect(known.placeOf('u209999')).toBeUndefined()
})

test('a buffer is reused by the next batch, and concurrent batches have separate buffers', async () => {
  const known = createKnownAccounts()
  const rooms: Buffer[] = []
  const isDone = Promise.withResolvers<void>()
  const use = (bytes: number, until?: Promise<void>) =>
    known.withRoom(bytes, async (room) => {
      expect(room.length).toBeGreaterThanOrEqual(bytes)
      rooms.push(room)
      await until
    })
  const first = use(1000, isDone.promise)
  const second = use(1000, isDone.promise)
  expect(rooms[0]).not.toBe(rooms[1])
  isDone.resolve()
  await Promise.all([first, second])
  await use(1000)
  expect(rooms.slice(0, 2)).toContain(rooms[2])
  await expect(known.withRoom(10, () => Promise.reject(new Error('refused')))).rejects.toThrow(
    'refused',
  )
  await use(5000)
  expect(rooms[3]?.length).toBe(5000)
})

test('a buffer for a page of unusual size is not kept', async () => {
  const known = createKnownAccounts()
  const lengths: number[] = []
  const use = (bytes: number) =>
    known.withRoom(bytes, async ({ length }) => void lengths.push(length))
  await use(20_000_000)
  await use(1000)
  expect(lengths).toEqual([20_000_000, 1000])
})

test('the total length of external ids is limited', () => {
  const known = createKnownAccounts()
  const accounts = Array.from({ length: 40_000 }, (_, n) => ({
    id: randomUUID(),
    external: String(n).padEnd(500, 'x'),
  }))
  add(known, accounts)
  expect(known.size()).toBeGreaterThan(31_900)
  expect(known.size()).toBeLessThanOrEqual(32_000)
})
