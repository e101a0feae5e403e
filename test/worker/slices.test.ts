import { expect, test } from 'vitest'
import { createSlices, type Share } from '../../runtime/worker/slices.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** A thread with a clock that only the test advances. */
function thread() {
  let wallMs = 1000
  let cpuMs = 0
  let switches = 0
  return {
    meter: { nowMs: () => wallMs, cpuMs: () => cpuMs, switches: () => switches },
    /** The guest computes for `ms` in one slice. */
    compute(share: Share, ms: number): void {
      share.begin()
      wallMs += ms
      cpuMs += ms
      share.end()
    },
    /** The guest waits for a core for `ms` in one slice. */
    wait(share: Share, ms: number): number {
      share.begin()
      wallMs += ms
      return share.end()
    },
    /** The system takes the processor away. */
    interrupt(): void {
      switches += 1
    },
  }
}

function guests() {
  const { meter, ...does } = thread()
  const slices = createSlices(meter, 0)
  return { ...does, one: slices.share(), two: slices.share() }
}

test('a guest that computes for 4 ms in one slice is heavy', () => {
  const { compute, one } = guests()
  compute(one, 1)
  expect(one.isHeavy()).toBe(false)
  compute(one, 5)
  expect(one.isHeavy()).toBe(true)
})

test('a guest that computes for 12 ms in the slices of one turn is heavy', async () => {
  const { compute, one } = guests()
  for (let n = 0; n < 3; n += 1) compute(one, 3)
  expect(one.isHeavy()).toBe(false)
  compute(one, 3)
  expect(one.isHeavy()).toBe(true)
  await nextTurn()
  compute(one, 1)
  expect(one.isHeavy()).toBe(false)
})

test('a guest with many short slices in one turn is not heavy; the rest waits for the next turn', async () => {
  const { compute, one } = guests()
  for (let n = 0; n < 1000 && one.mayRun(); n += 1) {
    compute(one, 0.1)
    expect(one.isHeavy()).toBe(false)
  }
  expect(one.mayRun()).toBe(false)
  await nextTurn()
  expect(one.mayRun()).toBe(true)
})

test('one long slice in five hundred is forgiven, the next one is not', async () => {
  const { compute, one } = guests()
  for (let n = 0; n < 500; n += 1) {
    compute(one, 0.01)
    if (n % 50 === 0) await nextTurn()
  }
  compute(one, 5)
  expect(one.isHeavy()).toBe(false)
  compute(one, 5)
  expect(one.isHeavy()).toBe(true)
})

test('a guest that waited for a core is not heavy', () => {
  const { wait, one } = guests()
  expect(wait(one, 20)).toBe(20)
  expect(one.isHeavy()).toBe(false)
})

test('time that a thread spends waiting is not processor time', () => {
  const share = createSlices(undefined, 0).share()
  share.begin()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
  expect(share.end()).toBeGreaterThanOrEqual(49)
  expect(share.isHeavy()).toBe(false)
})

test('all guests together have 25 ms in one turn', async () => {
  const { compute, one, two } = guests()
  compute(one, 26)
  expect(two.mayRun()).toBe(false)
  await nextTurn()
  expect(two.mayRun()).toBe(true)
})

test('a slice may take longer for a while after one that had to wait for a core', () => {
  const { compute, wait, one, two } = guests()
  expect(two.limitMs()).toBe(25)
  wait(one, 10)
  expect(two.limitMs()).toBe(100)
  compute(one, 2000)
  expect(two.limitMs()).toBe(25)
})

test('a slice may take longer for a while after a turn in which the system took the processor away', async () => {
  const { compute, interrupt, one } = guests()
  compute(one, 1)
  await nextTurn()
  expect(one.limitMs()).toBe(25)
  interrupt()
  compute(one, 1)
  await nextTurn()
  expect(one.limitMs()).toBe(100)
  compute(one, 2000)
  expect(one.limitMs()).toBe(25)
})

test('a slice of a worker that has just started may take longer', () => {
  expect(createSlices().share().limitMs()).toBe(100)
})
