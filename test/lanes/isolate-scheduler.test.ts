import { afterEach, describe, expect, test, vi } from 'vitest'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import {
  createIsolateScheduler,
  type IsolateScheduler,
  type SchedulerLimits,
} from '../../runtime/lanes/isolate-scheduler.ts'
import { holds } from '../kit/holds.ts'

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
  /** Who sits, in the order of coming in. */
  const seated: [string, number][] = []
  const again = vi.fn()
  /** Who lost the place in the line. */
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

describe('a call of a further tenant', () => {
  test('waits until an isolate is idle, first come, first served', () => {
    const { seats, steps, take, isolateOf, keys } = open()
    for (const key of ['1', '2', '3', '4']) take(key)
    expect(keys()).toEqual(['1', '2'])
    seats.release(isolateOf('2'))
    expect([keys(), steps.dispose.mock.calls]).toEqual([['1', '2', '3'], [[2]]])
    seats.release(isolateOf('1'))
    expect(keys()).toEqual(['1', '2', '3', '4'])
  })

  test('does not keep those from their seats whose isolate is there', () => {
    const { take, keys } = open()
    for (const key of ['1', '2', '3', '1', '2']) take(key)
    expect(keys()).toEqual(['1', '2', '1', '2'])
  })

  test('comes in with all others of its tenant', () => {
    const { seats, take, isolateOf, keys } = open()
    for (const key of ['1', '2', '3', '4', '3']) take(key)
    seats.release(isolateOf('1'))
    expect(keys()).toEqual(['1', '2', '3', '3'])
  })

  test('is sent away when too many wait', () => {
    const { take } = open({ maxWaiting: 1 })
    for (const key of ['1', '2', '3']) take(key)
    expect(() => take('4')).toThrow(RuntimeError)
    expect(() => take('4')).toThrow('waiting for a sandbox')
  })

  test('that gave up takes no seat', () => {
    const { seats, take, isolateOf, keys } = open()
    for (const key of ['1', '2']) take(key)
    const third = take('3')
    take('4')
    seats.giveUp(third)
    seats.release(isolateOf('1'))
    expect(keys()).toEqual(['1', '2', '4'])
  })

  test('is placed again when the worker ends', () => {
    const { seats, take, again } = open()
    for (const key of ['1', '2', '3']) take(key)
    seats.stop()
    expect(again.mock.calls).toEqual([['3']])
  })
})

describe('a full line', () => {
  test('makes place for a tenant, of one that has more calls in it', () => {
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

  test('makes place for a connector, of one whose many tenants have more in it', () => {
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

  test('gives a connector that comes alone three quarters', () => {
    const { seats, take, keys } = open(shared)
    for (const key of flood(20)) take(key)
    expect([keys().length, seats.waiting]).toEqual([6, 14])
  })

  test('has room for another at once, however many calls of the first wait', () => {
    const { take, keys } = open(shared)
    for (const key of flood(50)) take(key)
    take('b', 'b')
    expect(keys()).toContain('b')
  })

  test('gives what is let go to those that have less, before those that came first', () => {
    const { seats, take, isolateOf, keys } = open(shared)
    for (const key of flood(50)) take(key)
    for (const key of ['b1', 'b2', 'b3']) take(key, 'b')
    expect(keys().filter((key) => key.startsWith('b'))).toEqual(['b1'])
    for (const key of ['a0', 'a1', 'a2']) seats.release(isolateOf(key))
    expect(keys().slice(-2)).toEqual(['b2', 'b3'])
  })

  test('counts isolates that are kept warm only when they run again', () => {
    const { seats, take, isolateOf, keys } = open(shared)
    for (const key of flood(6)) take(key)
    for (const key of flood(6)) seats.release(isolateOf(key))
    for (const key of ['a6', 'a7', ...flood(6)]) take(key)
    expect(keys().slice(6)).toEqual(['a6', 'a7', 'a0', 'a1', 'a2', 'a3'])
    take('b', 'b')
    expect(keys()).toContain('b')
  })

  test('lets those in whose tenant runs already', () => {
    const { take, keys } = open(shared)
    for (const key of [...flood(20), 'a0']) take(key)
    expect(keys().filter((key) => key === 'a0')).toHaveLength(2)
  })
})

describe('an isolate that was let go', () => {
  test('and is not confirmed to be gone takes its worker with it', async () => {
    const { seats, steps, take, isolateOf } = open({ maxIsolates: 1 })
    take('1')
    seats.release(isolateOf('1'))
    take('2')
    expect(steps.dispose.mock.calls).toEqual([[1]])
    await holds(() => expect(steps.kill).toHaveBeenCalled())
  })

  test('because the worker says so is asked for again, and must be confirmed', async () => {
    const { seats, steps, take, isolateOf } = open()
    take('1')
    seats.gone(isolateOf('1'), false)
    expect(steps.dispose.mock.calls).toEqual([[1]])
    await holds(() => expect(steps.kill).toHaveBeenCalled())
  })
})

describe('an idle isolate', () => {
  test('that does not answer is disposed of', async () => {
    const { seats, steps, take, isolateOf } = open()
    take('1')
    seats.release(isolateOf('1'))
    seats.tend()
    expect(steps.ping.mock.calls).toEqual([[1]])
    await holds(() => expect(steps.dispose.mock.calls).toEqual([[1]]))
  })

  test('that nobody has used for long is disposed of where there are others', () => {
    const { seats, steps, take, isolateOf } = open({ warmMs: 0 })
    for (const key of ['1', '2']) {
      take(key)
      seats.release(isolateOf(key))
    }
    seats.tend()
    expect(steps.dispose.mock.calls).toEqual([[1]])
  })

  test('is left to the deadline of a call that came meanwhile', async () => {
    const { seats, steps, take, isolateOf } = open()
    take('1')
    seats.release(isolateOf('1'))
    seats.tend()
    take('1')
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect([steps.dispose.mock.calls, steps.fail.mock.calls]).toEqual([[], []])
  })
})

describe('a call that nobody waits for', () => {
  test('keeps its isolate until it has answered', () => {
    const { seats, take, isolateOf, keys } = open({ maxIsolates: 1 })
    take('1')
    seats.orphan(7, isolateOf('1'), 60_000, { capability: null })
    take('2')
    expect(keys()).toEqual(['1'])
    seats.replied(7)
    expect(keys()).toEqual(['1', '2'])
  })

  test('and that does not answer in its time ends with its isolate', async () => {
    const { seats, steps, take, isolateOf } = open()
    take('1')
    seats.orphan(7, isolateOf('1'), 20, { capability: null })
    await holds(() => expect(steps.dispose.mock.calls).toEqual([[1]]))
  })
})
