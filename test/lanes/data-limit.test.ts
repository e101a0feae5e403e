import { describe, expect, test, vi } from 'vitest'
import { createDataRoom, dataLimitOf, FIRST_DATA_LIMIT } from '../../runtime/lanes/data-limit.ts'
import { eventually } from '../kit/eventually.ts'

/** A data room whose raises complete when the test says so. */
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

describe('the data limit for the isolates of a worker', () => {
  test('allows one isolate without a raise', () => {
    const { asked, entered, enter } = open()
    enter(1)
    enter(1)
    expect([entered, asked]).toEqual([[1, 1], []])
  })

  test('is raised before the next isolate needs it', async () => {
    const { asked, entered, enter } = open()
    enter(2)
    expect(entered).toEqual([2])
    expect(asked.map(({ bytes }) => bytes)).toEqual([dataLimitOf(4)])
    asked[0]?.done()
    await settle()
    enter(3)
    expect([entered, asked.length]).toEqual([[2, 3], 1])
  })

  test('makes isolates wait until it is raised, one raise at a time', async () => {
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

  test('is raised again after a raise has failed', async () => {
    const { asked, entered, enter } = open()
    enter(5)
    asked[0]?.refuse()
    await eventually(() => expect(asked).toHaveLength(2))
    asked[1]?.done()
    await settle()
    expect(entered).toEqual([5])
  })

  test('admits no isolate after the worker has ended', async () => {
    const { room, asked, entered, enter } = open()
    enter(5)
    room.stop()
    asked[0]?.done()
    await settle()
    expect([entered, asked.length]).toEqual([[], 1])
  })

  test('admits every isolate where no limit can be set', () => {
    const entered = vi.fn()
    createDataRoom(7, null).forIsolates(1000, entered)
    expect(entered).toHaveBeenCalled()
  })
})

test('a worker with one isolate is limited to at most 3 GiB of data', () => {
  expect(FIRST_DATA_LIMIT).toBeLessThanOrEqual(3 * 1024 ** 3)
})
