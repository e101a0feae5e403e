import { afterEach, describe, expect, test, vi } from 'vitest'
import { RuntimeError } from '../../runtime/contract/errors.ts'
import { createSeats, type SeatLimits, type Seats } from '../../runtime/lanes/seats.ts'

let opened: Seats[] = []
afterEach(() => {
  for (const seats of opened) seats.stop()
  opened = []
})

function open(limits: Partial<SeatLimits> = {}) {
  const steps = { ping: vi.fn(), dispose: vi.fn(), fail: vi.fn(), kill: vi.fn() }
  const seats = createSeats(
    steps,
    {
      maxIsolates: 2,
      maxCalls: 100,
      maxAgeMs: 60_000,
      maxWaiting: 3,
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
  const take = (isolateKey: string) => {
    const ticket = {
      connector: 'a',
      isolateKey,
      enter: (isolate: number) => void seated.push([isolateKey, isolate]),
      again: () => again(isolateKey),
    }
    seats.take(ticket)
    return ticket
  }
  const isolateOf = (name: string) => seated.find(([key]) => key === name)?.[1] as number
  const keys = () => seated.map(([key]) => key)
  return { seats, steps, take, isolateOf, keys, again }
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

  test('is placed anew when the worker ends', () => {
    const { seats, take, again } = open()
    for (const key of ['1', '2', '3']) take(key)
    seats.stop()
    expect(again.mock.calls).toEqual([['3']])
  })
})

describe('an isolate that was let go', () => {
  test('and is not confirmed to be gone takes its worker with it', async () => {
    const { seats, steps, take, isolateOf } = open({ maxIsolates: 1 })
    take('1')
    seats.release(isolateOf('1'))
    take('2')
    expect(steps.dispose.mock.calls).toEqual([[1]])
    await vi.waitFor(() => expect(steps.kill).toHaveBeenCalled())
  })

  test('because the worker says so is asked for again, and must be confirmed', async () => {
    const { seats, steps, take, isolateOf } = open()
    take('1')
    seats.gone(isolateOf('1'), false)
    expect(steps.dispose.mock.calls).toEqual([[1]])
    await vi.waitFor(() => expect(steps.kill).toHaveBeenCalled())
  })
})

describe('an idle isolate', () => {
  test('that does not answer is disposed of', async () => {
    const { seats, steps, take, isolateOf } = open()
    take('1')
    seats.release(isolateOf('1'))
    seats.tend()
    expect(steps.ping.mock.calls).toEqual([[1]])
    await vi.waitFor(() => expect(steps.dispose.mock.calls).toEqual([[1]]))
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
    seats.orphan(7, isolateOf('1'), 60_000)
    take('2')
    expect(keys()).toEqual(['1'])
    seats.replied(7)
    expect(keys()).toEqual(['1', '2'])
  })

  test('and that does not answer in its time ends with its isolate', async () => {
    const { seats, steps, take, isolateOf } = open()
    take('1')
    seats.orphan(7, isolateOf('1'), 20)
    await vi.waitFor(() => expect(steps.dispose.mock.calls).toEqual([[1]]))
  })
})
