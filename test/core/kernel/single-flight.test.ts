/** Concurrent calls with the same key run once, within a host and among hosts that share a database. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createSingleFlight } from '../../../runtime/core/kernel/single-flight.ts'
import { sharedAnswers } from '../../../runtime/database/schema/deployment.ts'
import { createSealer } from '../../../runtime/secrets/seal.ts'
import { type CoreHost, startCore } from '../host.ts'

let core: CoreHost
beforeAll(async () => {
  core = await startCore()
})
afterAll(() => core.stop())

const sealer = createSealer(['s'.repeat(32)], 'test')
const newHost = () => {
  const onError = vi.fn()
  return { once: createSingleFlight({ db: () => core.db, sealer, onError }), onError }
}
const randomKey = () => randomBytes(8).toString('hex')
const slowly = <T>(answer: () => T) =>
  vi.fn(() => new Promise<T>((resolve) => setTimeout(() => resolve(answer()), 100)))

test('two concurrent hosts, and one a little later, get the same answer of a single call', async () => {
  const [one, two, later] = [newHost(), newHost(), newHost()]
  const key = randomKey()
  const find = slowly(() => ({ token: randomBytes(8).toString('hex') }))
  const answers = await Promise.all([one, one, two].map((host) => host.once(key, find)))
  answers.push(await later.once(key, find))
  expect(new Set(answers.map((answer) => answer.token)).size).toBe(1)
  expect(find).toHaveBeenCalledOnce()
  for (const { onError } of [one, two, later]) expect(onError).not.toHaveBeenCalled()
})

test('calls with different keys get answers of their own', async () => {
  const { once } = newHost()
  const answers = await Promise.all([
    once(randomKey(), async () => 1),
    once(randomKey(), async () => 2),
  ])
  expect(answers).toEqual([1, 2])
})

test('a call that failed is retried by the next caller', async () => {
  const [one, two] = [newHost(), newHost()]
  const key = randomKey()
  await expect(one.once(key, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  expect(await two.once(key, async () => 'well')).toBe('well')
})

test('answers cannot be read in the database', async () => {
  const { once } = newHost()
  await once(randomKey(), async () => 'the-token-that-nobody-may-read')
  const rows = await core.db.select().from(sharedAnswers)
  const texts = rows.map(({ answer }) => String(answer))
  expect(texts.length).toBeGreaterThan(0)
  expect(texts.join()).not.toContain('the-token-that-nobody-may-read')
})

test('without a database a host runs the call once by itself', async () => {
  const once = createSingleFlight({ db: () => null, sealer, onError: vi.fn() })
  const find = slowly(() => 1)
  const key = randomKey()
  expect(await Promise.all([once(key, find), once(key, find)])).toEqual([1, 1])
  expect(await once(key, find)).toBe(1)
  expect(find).toHaveBeenCalledOnce()
})
