import { describe, expect, test, vi } from 'vitest'
import { createDataRoom, dataLimitOf, FIRST_DATA_LIMIT } from '../../runtime/lanes/data-limit.ts'
import { holds } from '../kit/holds.ts'

/** A room whose raises are made when the test says so. */
function open() {
  const asked: { bytes: number; done(): void; refuse(): void }[] = []
  const set = vi.fn(
    (_pid: number, bytes: number) =>
      new Promise<void>((resolve, reject) => {
        asked.push({ bytes, done: resolve, refuse: () => reject(new Error('no descriptors')) })
      }),
  )
  const room = createDataRoom(7, set)
  const entered: number[] = []
  return { room, asked, entered, enter: (n: number) => room.forIsolates(n, () => entered.push(n)) }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('room for the isolates of a worker', () => {
  test('is there for a tenant, without asking', () => {
    const { asked, entered, enter } = open()
    enter(1)
    enter(1)
    expect([entered, asked]).toEqual([[1, 1], []])
  })

  test('is asked for ahead of who needs it', async () => {
    const { asked, entered, enter } = open()
    enter(2)
    expect(entered).toEqual([2])
    expect(asked.map(({ bytes }) => bytes)).toEqual([dataLimitOf(4)])
    asked[0]?.done()
    await settle()
    enter(3)
    expect([entered, asked.length]).toEqual([[2, 3], 1])
  })

  test('is waited for, by all that need it, in one raise after the other', async () => {
    const { asked, entered, enter } = open()
    for (const count of [2, 3, 9, 40]) enter(count)
    expect(entered).toEqual([2])
    asked[0]?.done()
    await settle()
    expect(entered).toEqual([2, 3])
    asked[1]?.done()
    await settle()
    expect(asked.map(({ bytes }) => bytes)).toEqual([dataLimitOf(4), dataLimitOf(50)])
    expect(entered).toEqual([2, 3, 9, 40])
  })

  test('is asked for again when the system had none for the question', async () => {
    const { asked, entered, enter } = open()
    enter(5)
    asked[0]?.refuse()
    await holds(() => expect(asked).toHaveLength(2))
    asked[1]?.done()
    await settle()
    expect(entered).toEqual([5])
  })

  test('is nobody’s when the worker has ended', async () => {
    const { room, asked, entered, enter } = open()
    enter(5)
    room.stop()
    asked[0]?.done()
    await settle()
    expect([entered, asked.length]).toEqual([[], 1])
  })

  test('is there for all where there is no limit', () => {
    const entered = vi.fn()
    createDataRoom(7, null).forIsolates(1000, entered)
    expect(entered).toHaveBeenCalled()
  })
})

test('a worker that holds one isolate cannot take many gigabytes', () => {
  expect(FIRST_DATA_LIMIT).toBeLessThanOrEqual(3 * 1024 ** 3)
})
