import { expect, test } from 'vitest'
import { atOnce, inSlices } from '../../runtime/bounded/slices.ts'

/** Work of so many pieces, each longer than a slice; `onPiece` is called for each. */
function* pieces(count: number, onPiece: () => void): Generator<void, string> {
  for (let piece = 0; piece < count; piece += 1) {
    onPiece()
    const endMs = performance.now() + 10
    while (performance.now() < endMs) {}
    yield
  }
  return 'done'
}

test('long works leave the event loop a turn after each slice, however many there are', async () => {
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

test('what work throws is thrown', async () => {
  const failing = function* (): Generator<void, never> {
    yield
    throw new Error('full')
  }
  await expect(inSlices(failing())).rejects.toThrow('full')
})
