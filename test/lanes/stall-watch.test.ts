/** When a worker counts as stalled. Looks are counted, so no clock is needed. */
import { expect, test, vi } from 'vitest'
import { createStallWatch } from '../../runtime/lanes/stall-watch.ts'

function watch(runs: boolean[] = []) {
  const steps = {
    ask: vi.fn(),
    stalled: vi.fn(),
    watchMainThread: () => () => runs.shift() ?? true,
  }
  const stall = createStallWatch(steps)
  const look = (times: number) => {
    for (let n = 0; n < times; n += 1) stall.look()
    return [steps.ask.mock.calls.length, steps.stalled.mock.calls.length]
  }
  return { stall, look }
}

test('a silent worker is asked after 100 ms and has 200 ms to answer', () => {
  const { look } = watch()
  expect(look(9)).toEqual([0, 0])
  expect(look(1)).toEqual([1, 0])
  expect(look(19)).toEqual([1, 0])
  expect(look(1)).toEqual([1, 1])
})

test('any message restarts the silence', () => {
  const { stall, look } = watch()
  look(9)
  stall.heard()
  expect(look(9)).toEqual([0, 0])
  look(1)
  stall.heard()
  expect(look(9)).toEqual([1, 0])
})

test('a worker that has not run since it was asked is given more time', () => {
  const { look } = watch([false, false, true])
  expect(look(10 + 20 + 20)).toEqual([1, 0])
  expect(look(20)).toEqual([1, 1])
})

test('a worker that processes a long input gets time by its length, up to a limit', () => {
  const { stall, look } = watch()
  stall.working(2_000_000)
  expect(look(69)).toEqual([0, 0])
  expect(look(1)).toEqual([1, 0])
  stall.working(Number.MAX_SAFE_INTEGER)
  expect(look(10 + 34 * 30)).toEqual([2, 0])
})

test('that time lasts until the input is processed, whatever else the worker sends', () => {
  const { stall, look } = watch()
  stall.working(1_000_000)
  stall.heard()
  expect(look(39)).toEqual([0, 0])
  stall.working(0)
  expect(look(9)).toEqual([0, 0])
  expect(look(1)).toEqual([1, 0])
})
