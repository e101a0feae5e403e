import { expect, test } from 'vitest'
import { atOnce, inSlices } from '../../runtime/bounded/slices.ts'

/** Work of `count` pieces, each longer than a slice. Calls `onPiece` for each. */
function* pieces(count: number, onPiece: () => void): Generator<void, string> {
  for (let piece = 0; piece < count; piece += 1) {
    onPiece()
    const endMs = performance.now() + 10
    while (performance.now() < endMs) {}
    yield
  }
  return 'done'
}

test('several long tasks at once let the event loop run after each slice', async () => {
  let turns = 0
  let ended = false
  const turn = () => {
    turns += 1
    if (!ended) setImmediate(turn)
  }
  setImmediate(turn)
  const seen: number[] = []
  const onPiece = () => seen.push(turns)
  const works = [1, 2, 3].map(() => inSlices(pieces(4, onPiece)))
  expect(await Promise.all(works)).toEqual(['done', 'done', 'done'])
  ended = true
  expect(seen).toHaveLength(12)
  expect(new Set(seen).size).toBe(12)
})

test('short work is done at once', async () => {
  expect(atOnce(pieces(1, () => {}))).toBe('done')
  const order: string[] = []
  setImmediate(() => order.push('turn'))
  order.push(await inSlices(pieces(0, () => {})))
  expect(order).toEqual(['done'])
})

test('an error that the work throws is rethrown', async () => {
  const failing = function* (): Generator<void, never> {
    yield
    throw new Error('full')
  }
  await expect(inSlices(failing())).rejects.toThrow('full')
})
