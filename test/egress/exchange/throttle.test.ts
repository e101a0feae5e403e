import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { createGovernors, type Governor } from '../../../runtime/egress/exchange/throttle.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const never = new AbortController().signal
const governor = (requestsPerSecond: number, concurrentRequests: number): Governor =>
  createGovernors()('key', { requestsPerSecond, concurrentRequests })
/** Lets so many requests in, and tells when each of them was: in milliseconds from now. */
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

test('a second’s worth leaves at once, the rest at an even pace', async () => {
  const at = enterMany(governor(10, 100), 15)
  await vi.advanceTimersByTimeAsync(2000)
  expect(at.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 0))
  expect(at.slice(10)).toEqual([100, 200, 300, 400, 500])
})

test('what left without a turn is counted, and a turn that sent nothing is not', async () => {
  const one = governor(10, 100)
  one.count(5)
  one.count(-2)
  const at = enterMany(one, 9)
  await vi.advanceTimersByTimeAsync(2000)
  expect(at.slice(0, 7)).toEqual(Array.from({ length: 7 }, () => 0))
  expect(at.slice(7)).toEqual([100, 200])
})

test('no more than so many are under way', async () => {
  const at = enterMany(governor(1000, 2), 6, 100)
  await vi.advanceTimersByTimeAsync(1000)
  expect(at).toEqual([0, 0, 100, 100, 200, 200])
})

test('nothing leaves while the upstream asks to be left alone', async () => {
  const one = governor(1000, 10)
  one.pause(500)
  const at = enterMany(one, 2)
  await vi.advanceTimersByTimeAsync(1000)
  expect(at).toEqual([500, 500])
})

describe('who cannot be served before the end of its call hears so', () => {
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

  test('also when it waits already', async () => {
    const one = governor(1000, 1)
    const leave = await one.enter({ endMs: Infinity, signal: never, from: 'x' })
    const waiting = enter(one, 2000)
    one.pause(7000)
    expect(await waiting).toMatchObject({ code: 'upstream_paced' })
    leave()
  })
})

test('who gives up takes nobody’s turn', async () => {
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

describe('another pace for a key that is known', () => {
  const slow = { requestsPerSecond: 1, concurrentRequests: 1 }
  const fast = { requestsPerSecond: 1000, concurrentRequests: 2 }

  test('counts from the next request on', async () => {
    const governorFor = createGovernors()
    const before = enterMany(governorFor('key', { ...fast, concurrentRequests: 100 }), 100)
    await vi.advanceTimersByTimeAsync(1000)
    expect(before).toHaveLength(100)
    const after = enterMany(governorFor('key', { ...slow, concurrentRequests: 100 }), 3)
    await vi.advanceTimersByTimeAsync(5000)
    expect(after).toEqual([0, 1000, 2000])
  })

  test('lets those go on who wait already', async () => {
    const governorFor = createGovernors()
    const at = enterMany(governorFor('key', slow), 3, 5000)
    await vi.advanceTimersByTimeAsync(100)
    expect(at).toEqual([0])
    governorFor('key', fast)
    await vi.advanceTimersByTimeAsync(1000)
    expect(at).toHaveLength(2)
  })

  test('keeps what the upstream asked for', async () => {
    const governorFor = createGovernors()
    governorFor('key', slow).pause(500)
    const at = enterMany(governorFor('key', fast), 1)
    await vi.advanceTimersByTimeAsync(1000)
    expect(at).toEqual([500])
  })
})

test('tries are a tenth of the requests, and a few', async () => {
  const one = governor(1000, 1000)
  const used = () => Array.from({ length: 50 }, () => one.mayRetry()).filter(Boolean).length
  expect(used()).toBe(10)
  expect(used()).toBe(0)
  enterMany(one, 30)
  await vi.advanceTimersByTimeAsync(10)
  expect(used()).toBe(3)
})

test('who goes just when its turn has come takes nobody’s place in line', async () => {
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
