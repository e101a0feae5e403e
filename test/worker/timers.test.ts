import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTimers } from '../../runtime/worker/timers.ts'
import { eventually } from '../kit/eventually.ts'

const open = () => {
  const fired: number[] = []
  const timers = createTimers((id) => fired.push(id))
  return { fired, timers }
}

test.each([0, 1, -5, Number.NaN, 0.5])('a timer of %d ms fires once', async (ms) => {
  const { fired, timers } = open()
  timers.set(1, ms)
  await eventually(() => expect(fired).toEqual([1]))
  await wait(20)
  expect(fired).toEqual([1])
})

test('a timer that is cleared, or set again, does not fire', async () => {
  const { fired, timers } = open()
  timers.set(1, 10)
  timers.set(2, 10)
  timers.set(2, 60_000)
  timers.set(3, 10)
  timers.clear(1)
  timers.clear(77)
  await eventually(() => expect(fired).toEqual([3]))
  timers.clearAll()
})

test('no timer fires after all are cleared', async () => {
  const { fired, timers } = open()
  for (let id = 0; id < 10; id += 1) timers.set(id, 5)
  timers.clearAll()
  await wait(30)
  expect(fired).toEqual([])
})

test('at most 1000 timers may be pending, and more may be set once some have fired', async () => {
  const { fired, timers } = open()
  for (let id = 0; id < 1500; id += 1) timers.set(id, 1)
  await eventually(() => expect(fired).toHaveLength(1000))
  timers.set(2000, 1)
  await eventually(() => expect(fired).toHaveLength(1001))
})

test.each([Number.POSITIVE_INFINITY, 1e12])(
  'a delay of %d ms does not fire at once',
  async (ms) => {
    const { fired, timers } = open()
    timers.set(1, ms)
    await wait(30)
    expect(fired).toEqual([])
    timers.clearAll()
  },
)
