import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { onMainThread } from '../../runtime/worker/main-thread.ts'

const turn = () => new Promise((resolve) => setImmediate(setImmediate, resolve))

let nowMs = 0

beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
})

afterEach(async () => {
  vi.restoreAllMocks()
  await turn()
})

/** Queues pieces of work that take `tookMs` each. */
function busy(tookMs: number) {
  const done: number[] = []
  const give = (piece: number) =>
    onMainThread(() => {
      nowMs += tookMs
      done.push(piece)
      return piece
    })
  return { give, done }
}

test('any amount of short work is done at once', async () => {
  const { give, done } = busy(0.01)
  const all = Array.from({ length: 500 }, (_, piece) => give(piece))
  expect(done).toHaveLength(500)
  expect(await all.at(-1)).toBe(499)
})

test('long work is done in portions, one per turn and in order, including work added later', async () => {
  const { give, done } = busy(6)
  for (const piece of [1, 2, 3, 4]) void give(piece)
  expect(done).toEqual([1, 2])
  await turn()
  expect(done).toEqual([1, 2, 3, 4])
  void give(5)
  expect(done).toEqual([1, 2, 3, 4])
  await turn()
  expect(done).toEqual([1, 2, 3, 4, 5])
})

test('the next portion runs in the next turn, not at the end of the same, so that the pipe is read', async () => {
  const { give, done } = busy(20)
  void give(1)
  void give(2)
  await new Promise((resolve) => setImmediate(resolve))
  expect(done).toEqual([1])
  await turn()
  expect(done).toEqual([1, 2])
})

test('when work fails, its caller gets the error and the rest still runs', async () => {
  const { give } = busy(20)
  const first = give(1)
  const failed = onMainThread(() => {
    throw new RangeError('too deep')
  })
  const last = give(3)
  await expect(failed).rejects.toThrow('too deep')
  expect([await first, await last]).toEqual([1, 3])
})
