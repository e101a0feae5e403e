import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { createGovernors, type Governor } from '../../../runtime/egress/exchange/throttle.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const never = new AbortController().signal
const governor = (requestsPerSecond: number, concurrentRequests: number): Governor =>
  createGovernors()('key', { requestsPerSecond, concurrentRequests })
/** Enters `count` requests, and returns when each was admitted, in milliseconds from now. */
function enterMany(one: Governor, count: number, lastMs = 0) {
  const begun = Date.now()
  const at: number[] = []
  for (let index = 0; index < count; index += 1)
    void one.enter({ endMs: Infinity, signal: never, from: 'x' }).then((leave) => {
      at.push(Date.now() - begun)
      setTimeout(leave, lastMs)
    })
  return at
}

test('one second’s worth of requests is admitted at once, the rest at an even pace', async () => {
  const at = enterMany(governor(10, 100), 15)
  await vi.advanceTimersByTimeAsync(2000)
  expect(at.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 0))
  expect(at.slice(10)).toEqual([100, 200, 300, 400, 500])
})

test('requests sent without a turn are counted, and turns that sent nothing are not', async () => {
  const one = governor(10, 100)
  one.count(5)
  one.count(-2)
  const at = enterMany(one, 9)
  await vi.advanceTimersByTimeAsync(2000)
  expect(at.slice(0, 7)).toEqual(Array.from({ length: 7 }, () => 0))
  expect(at.slice(7)).toEqual([100, 200])
})

test('no more than the allowed number of requests run at once', async () => {
  const at = enterMany(governor(1000, 2), 6, 100)
  await vi.advanceTimersByTimeAsync(1000)
  expect(at).toEqual([0, 0, 100, 100, 200, 200])
})

test('no request is admitted while the upstream asks for a pause', async () => {
  const one = governor(1000, 10)
  one.pause(500)
  const at = enterMany(one, 2)
  await vi.advanceTimersByTimeAsync(1000)
  expect(at).toEqual([500, 500])
})

describe('a request that cannot be admitted before its call ends fails', () => {
  const enter = (one: Governor, inMs: number) =>
    one
      .enter({ endMs: Date.now() + inMs, signal: never, from: 'api.acme.example' })
      .catch((error: unknown) => error)

  test('at once', async () => {
    const one = governor(1000, 10)
    one.pause(7000)
    const error = await enter(one, 2000)
    expect(error).toBeInstanceOf(RuntimeError)
    expect(error).toMatchObject({
      code: 'upstream_paced',
      message:
        'api.acme.example takes no more requests for 7 s, and the call ends in 2 s; try again in 7 s',
    })
  })

  test('also when it is already waiting', async () => {
    const one = governor(1000, 1)
    const leave = await one.enter({ endMs: Infinity, signal: never, from: 'x' })
    const waiting = enter(one, 2000)
    one.pause(7000)
    expect(await waiting).toMatchObject({ code: 'upstream_paced' })
    leave()
  })
})

test('a request that gives up does not take the turn of another', async () => {
  const one = governor(1000, 1)
  const leave = await one.enter({ endMs: Infinity, signal: never, from: 'x' })
  const gone = new AbortController()
  const first = one.enter({ endMs: Infinity, signal: gone.signal, from: 'x' })
  const second = one.enter({ endMs: Infinity, signal: never, from: 'x' })
  gone.abort()
  await expect(first).rejects.toMatchObject({ code: 'upstream_timeout' })
  leave()
  leave()
  await expect(second).resolves.toBeTypeOf('function')
})

test('keys do not wait for each other', async () => {
  const governorFor = createGovernors()
  const pace = { requestsPerSecond: 1, concurrentRequests: 1 }
  governorFor('one', pace).pause(60_000)
  const other = governorFor('two', pace).enter({ endMs: Infinity, signal: never, from: 'x' })
  await expect(other).resolves.toBeTypeOf('function')
})

describe('a new pace for a known key', () => {
  const slow = { requestsPerSecond: 1, concurrentRequests: 1 }
  const fast = { requestsPerSecond: 1000, concurrentRequests: 2 }

  test('applies from the next request on', async () => {
    const governorFor = createGovernors()
    const before = enterMany(governorFor('key', { ...fast, concurrentRequests: 100 }), 100)
    await vi.advanceTimersByTimeAsync(1000)
    expect(before).toHaveLength(100)
    const after = enterMany(governorFor('key', { ...slow, concurrentRequests: 100 }), 3)
    await vi.advanceTimersByTimeAsync(5000)
    expect(after).toEqual([0, 1000, 2000])
  })

  test('admits requests that are already waiting', async () => {
    const governorFor = createGovernors()
    const at = enterMany(governorFor('key', slow), 3, 5000)
    await vi.advanceTimersByTimeAsync(100)
    expect(at).toEqual([0])
    governorFor('key', fast)
    await vi.advanceTimersByTimeAsync(1000)
    expect(at).toHaveLength(2)
  })

  test('keeps the pause that the upstream asked for', async () => {
    const governorFor = createGovernors()
    governorFor('key', slow).pause(500)
    const at = enterMany(governorFor('key', fast), 1)
    await vi.advanceTimersByTimeAsync(1000)
    expect(at).toEqual([500])
  })
})

test('retries are limited to a tenth of the requests, plus ten', async () => {
  const one = governor(1000, 1000)
  const used = () => Array.from({ length: 50 }, () => one.mayRetry()).filter(Boolean).length
  expect(used()).toBe(10)
  expect(used()).toBe(0)
  enterMany(one, 30)
  await vi.advanceTimersByTimeAsync(10)
  expect(used()).toBe(3)
})

test('a request that is aborted as it is admitted does not block the queue', async () => {
  const one = governor(1000, 1)
  const first = new AbortController()
  const enter = (signal: AbortSignal) => one.enter({ endMs: Infinity, signal, from: 'x' })
  const leave = await enter(never)
  const admitted = enter(first.signal)
  let served = false
  void enter(never).then(() => {
    served = true
  })
  leave()
  first.abort()
  ;(await admitted)()
  await vi.advanceTimersByTimeAsync(100)
  expect(served).toBe(true)
})
