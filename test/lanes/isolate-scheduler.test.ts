import { afterEach, describe, expect, test, vi } from 'vitest'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import {
  createIsolateScheduler,
  type IsolateScheduler,
  type SchedulerLimits,
} from '../../runtime/lanes/isolate-scheduler.ts'
import { eventually } from '../kit/eventually.ts'

let opened: IsolateScheduler[] = []
afterEach(() => {
  for (const seats of opened) seats.stop()
  opened = []
})

function open(limits: Partial<SchedulerLimits> = {}) {
  const steps = {
    ping: vi.fn(),
    dispose: vi.fn(),
    fail: vi.fn(),
    kill: vi.fn(),
    watchStarvation: () => () => false,
  }
  const seats = createIsolateScheduler(
    steps,
    {
      maxIsolates: 2,
      maxCalls: 100,
      maxAgeMs: 60_000,
      warmIsolates: 1,
      warmMs: 60_000,
      maxWaiting: 3,
      shared: false,
      pingMs: 20,
      idlePingMs: 40,
      disposeMs: 40,
      ...limits,
    },
    Date.now,
  )
  opened.push(seats)
  /** The keys that got an isolate, in order. */
  const seated: [string, number][] = []
  const again = vi.fn()
  /** The keys that lost their place in the queue. */
  const refused: string[] = []
  const take = (isolateKey: string, connector = 'a') => {
    const ticket = {
      connector,
      isolateKey,
      enter: (isolate: number) => void seated.push([isolateKey, isolate]),
      again: () => again(isolateKey),
      refuse: () => void refused.push(isolateKey),
    }
    seats.take(ticket)
    return ticket
  }
  const isolateOf = (name: string) => seated.find(([key]) => key === name)?.[1] as number
  const keys = () => seated.map(([key]) => key)
  return { seats, steps, take, isolateOf, keys, again, refused }
}

describe('a call of another tenant', () => {
  test('waits until an isolate is idle, first come, first served', () => {
    const { seats, steps, take, isolateOf, keys } = open()
    for (const key of ['1', '2', '3', '4']) take(key)
    expect(keys()).toEqual(['1', '2'])
    seats.release(isolateOf('2'))
    expect([keys(), steps.dispose.mock.calls]).toEqual([['1', '2', '3'], [[2]]])
    seats.release(isolateOf('1'))
    expect(keys()).toEqual(['1', '2', '3', '4'])
  })

  test('does not delay calls of tenants that already have an isolate', () => {
    const { take, keys } = open()
    for (const key of ['1', '2', '3', '1', '2']) take(key)
    expect(keys()).toEqual(['1', '2', '1', '2'])
  })

  test('is admitted together with the other waiting calls of its tenant', () => {
    const { seats, take, isolateOf, keys } = open()
    for (const key of ['1', '2', '3', '4', '3']) take(key)
    seats.release(isolateOf('1'))
    expect(keys()).toEqual(['1', '2', '3', '3'])
  })

  test('is refused when too many are waiting', () => {
    const { take } = open({ maxWaiting: 1 })
    for (const key of ['1', '2', '3']) take(key)
    expect(() => take('4')).toThrow(RuntimeError)
    expect(() => take('4')).toThrow('waiting for a sandbox')
  })

  test('that gave up gets no isolate', () => {
    const { seats, take, isolateOf, keys } = open()
    for (const key of ['1', '2']) take(key)
    const third = take('3')
    take('4')
    seats.giveUp(third)
    seats.release(isolateOf('1'))
    expect(keys()).toEqual(['1', '2', '4'])
  })

  test('is scheduled again when the worker ends', () => {
    const { seats, take, again } = open()
    for (const key of ['1', '2', '3']) take(key)
    seats.stop()
    expect(again.mock.calls).toEqual([['3']])
  })
})

describe('a full queue', () => {
  test('drops a call of a tenant with more calls in it to make room for a tenant with fewer', () => {
    const { seats, take, isolateOf, keys, refused } = open({ maxIsolates: 1, maxWaiting: 3 })
    for (const key of ['1', 'flood', 'flood', 'flood']) take(key)
    take('2')
    expect(refused).toEqual(['flood'])
    expect(() => take('flood')).toThrow('waiting for a sandbox')
    seats.release(isolateOf('1'))
    seats.release(isolateOf('flood'))
    seats.release(isolateOf('flood'))
    expect(keys()).toEqual(['1', 'flood', 'flood', '2'])
  })

  test('drops calls of a connector with more calls in it to make room for another connector', () => {
    const { take, refused } = open({ maxIsolates: 1, maxWaiting: 4 })
    for (const key of ['a1', 'a2', 'a3', 'a4', 'a5']) take(key)
    take('b1', 'b')
    take('b2', 'b')
    expect(refused).toEqual(['a5', 'a4'])
    expect(() => take('b3', 'b')).toThrow('waiting for a sandbox')
  })
})

describe('a worker that connectors share', () => {
  const shared = { maxIsolates: 8, maxWaiting: 100, shared: true }
  const flood = (count: number) => Array.from({ length: count }, (_, n) => `a${n}`)

  test('gives a single connector three quarters of its isolates', () => {
    const { seats, take, keys } = open(shared)
    for (const key of flood(20)) take(key)
    expect([keys().length, seats.waiting]).toEqual([6, 14])
  })

  test('admits another connector at once, however many calls of the first are waiting', () => {
    const { take, keys } = open(shared)
    for (const key of flood(50)) take(key)
    take('b', 'b')
    expect(keys()).toContain('b')
  })

  test('gives a released isolate to the connector with fewer, not to the one that came first', () => {
    const { seats, take, isolateOf, keys } = open(shared)
    for (const key of flood(50)) take(key)
    for (const key of ['b1', 'b2', 'b3']) take(key, 'b')
    expect(keys().filter((key) => key.startsWith('b'))).toEqual(['b1'])
    for (const key of ['a0', 'a1', 'a2']) seats.release(isolateOf(key))
    expect(keys().slice(-2)).toEqual(['b2', 'b3'])
  })

  test('counts warm isolates only when they run again', () => {
    const { seats, take, isolateOf, keys } = open(shared)
    for (const key of flood(6)) take(key)
    for (const key of flood(6)) seats.release(isolateOf(key))
    for (const key of ['a6', 'a7', ...flood(6)]) take(key)
    expect(keys().slice(6)).toEqual(['a6', 'a7', 'a0', 'a1', 'a2', 'a3'])
    take('b', 'b')
    expect(keys()).toContain('b')
  })

  test('admits further calls of a tenant that already runs', () => {
    const { take, keys } = open(shared)
    for (const key of [...flood(20), 'a0']) take(key)
    expect(keys().filter((key) => key === 'a0')).toHaveLength(2)
  })
})

describe('a disposed isolate', () => {
  test('that is not confirmed to be gone gets its worker killed', async () => {
    const { seats, steps, take, isolateOf } = open({ maxIsolates: 1 })
    take('1')
    seats.release(isolateOf('1'))
    take('2')
    expect(steps.dispose.mock.calls).toEqual([[1]])
    await eventually(() => expect(steps.kill).toHaveBeenCalled())
  })

  test('that the worker reports unasked is disposed of anyway, and must be confirmed', async () => {
    const { seats, steps, take, isolateOf } = open()
    take('1')
    seats.gone(isolateOf('1'), false)
    expect(steps.dispose.mock.calls).toEqual([[1]])
    await eventually(() => expect(steps.kill).toHaveBeenCalled())
  })
})

describe('an idle isolate', () => {
  test('that does not answer a ping is disposed of', async () => {
    const { seats, steps, take, isolateOf } = open()
    take('1')
    seats.release(isolateOf('1'))
    seats.tend()
    expect(steps.ping.mock.calls).toEqual([[1]])
    await eventually(() => expect(steps.dispose.mock.calls).toEqual([[1]]))
  })

  test('that has been unused for long is disposed of where there are others', () => {
    const { seats, steps, take, isolateOf } = open({ warmMs: 0 })
    for (const key of ['1', '2']) {
      take(key)
      seats.release(isolateOf(key))
    }
    seats.tend()
    expect(steps.dispose.mock.calls).toEqual([[1]])
  })

  test('is not disposed of when a call arrives after the ping', async () => {
    const { seats, steps, take, isolateOf } = open()
    take('1')
    seats.release(isolateOf('1'))
    seats.tend()
    take('1')
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect([steps.dispose.mock.calls, steps.fail.mock.calls]).toEqual([[], []])
  })
})

describe('an abandoned call', () => {
  test('keeps its isolate until it has answered', () => {
    const { seats, take, isolateOf, keys } = open({ maxIsolates: 1 })
    take('1')
    seats.orphan(7, isolateOf('1'), 60_000, { capability: null })
    take('2')
    expect(keys()).toEqual(['1'])
    seats.replied(7)
    expect(keys()).toEqual(['1', '2'])
  })

  test('that does not answer in time ends with its isolate', async () => {
    const { seats, steps, take, isolateOf } = open()
    take('1')
    seats.orphan(7, isolateOf('1'), 20, { capability: null })
    await eventually(() => expect(steps.dispose.mock.calls).toEqual([[1]]))
  })
})
