import { expect, test, vi } from 'vitest'
import { latest } from '../../runtime/observe/latest.ts'

test('concurrent callers share one reading', async () => {
  const read = vi.fn(async () => 7)
  const look = latest(60_000, 60_000, read)
  expect(await Promise.all([look(), look(), look()])).toEqual([7, 7, 7])
  expect(await look()).toBe(7)
  expect(read).toHaveBeenCalledTimes(1)
})

test('a reading that never ends blocks nobody, and no second one is started', async () => {
  const read = vi.fn(() => new Promise<never>(() => {}))
  const look = latest(0, 60_000, read)
  expect(await look()).toBe(null)
  expect(await look()).toBe(null)
  expect(read).toHaveBeenCalledTimes(1)
})

test('a failed reading returns null, and is retried', async () => {
  const answers = [() => Promise.reject(new Error('away')), () => Promise.resolve(1)]
  const look = latest<number>(0, 60_000, async () => answers.shift()?.() ?? 2)
  expect([await look(), await look(), await look()]).toEqual([null, 1, 2])
})
