import { expect, test } from 'vitest'
import { createSlices, type Share } from '../../runtime/worker/slices.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** Computes for so many milliseconds of processor time. */
function compute(ms: number): void {
  const begun = process.threadCpuUsage()
  for (;;) {
    const { user, system } = process.threadCpuUsage(begun)
    if ((user + system) / 1000 >= ms) return
  }
}

function slice(share: Share, ms: number): void {
  share.begin()
  compute(ms)
  share.end()
}

test('a guest that computes for 4 ms in one slice is heavy', () => {
  const share = createSlices(() => 0, 0).share()
  slice(share, 1)
  expect(share.isHeavy()).toBe(false)
  slice(share, 5)
  expect(share.isHeavy()).toBe(true)
})

test('a guest that computes for 12 ms in the slices of one turn is heavy', async () => {
  const slices = createSlices(() => 0, 0)
  const share = slices.share()
  for (let n = 0; n < 9 && !share.isHeavy(); n += 1) slice(share, 3)
  expect(share.isHeavy()).toBe(true)
  await nextTurn()
  slice(share, 1)
  expect(share.isHeavy()).toBe(false)
})

test('a guest with many short slices in one turn is not heavy: the rest waits for the next turn', async () => {
  const share = createSlices(() => 0, 0).share()
  for (let n = 0; n < 1000 && share.mayRun(); n += 1) {
    share.begin()
    const endMs = performance.now() + 0.1
    while (performance.now() < endMs);
    share.end()
    expect(share.isHeavy()).toBe(false)
  }
  expect(share.mayRun()).toBe(false)
  await nextTurn()
  expect(share.mayRun()).toBe(true)
})

test('one long slice in five hundred is forgiven, the next one is not', async () => {
  const share = createSlices(() => 0, 0).share()
  for (let n = 0; n < 500; n += 1) {
    slice(share, 0)
    if (n % 50 === 0) await nextTurn()
  }
  slice(share, 5)
  expect(share.isHeavy()).toBe(false)
  slice(share, 5)
  expect(share.isHeavy()).toBe(true)
})

test('a guest that waited for a core is not heavy', () => {
  const share = createSlices(() => 0, 0).share()
  share.begin()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
  expect(share.end()).toBeGreaterThanOrEqual(19)
  expect(share.isHeavy()).toBe(false)
})

test('all guests together have 25 ms in one turn', async () => {
  const slices = createSlices(() => 0, 0)
  const [one, two] = [slices.share(), slices.share()]
  slice(one, 26)
  expect(two.mayRun()).toBe(false)
  await nextTurn()
  expect(two.mayRun()).toBe(true)
})

test('a slice may take longer for a while after one that had to wait for a core', () => {
  const slices = createSlices(() => 0, 0)
  const [one, two] = [slices.share(), slices.share()]
  expect(two.limitMs()).toBe(25)
  one.begin()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  one.end()
  expect(two.limitMs()).toBe(100)
})

test('a slice may take longer for a while after a turn in which the system took the processor away', async () => {
  let switches = 0
  const share = createSlices(() => switches, 0).share()
  slice(share, 0)
  await nextTurn()
  expect(share.limitMs()).toBe(25)
  switches += 1
  slice(share, 0)
  await nextTurn()
  expect(share.limitMs()).toBe(100)
})

test('a slice of a worker that has just begun may take longer', () => {
  expect(
    createSlices(() => 0)
      .share()
      .limitMs(),
  ).toBe(100)
})
