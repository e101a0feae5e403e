import { describe, expect, test } from 'vitest'
import {
  type ConcurrencyLimit,
  createConcurrencyLimit,
  MAX_WAITING,
} from '../../runtime/invoke/concurrency.ts'

const forever = new AbortController().signal
const take = (turns: ConcurrencyLimit, tenant = 't', concurrency = 1, signal = forever) =>
  turns.take('acme', tenant, { concurrency }, signal)

const settled = async (promise: Promise<unknown>) => {
  let state = 'waits'
  promise.then(
    () => (state = 'has it'),
    () => (state = 'refused'),
  )
  await new Promise((resolve) => setImmediate(resolve))
  return state
}

describe('turns', () => {
  test('are as many at once as allowed, then one for one', async () => {
    const turns = createConcurrencyLimit()
    const leaves = [await take(turns, 't', 2), await take(turns, 't', 2)]
    const third = take(turns, 't', 2)
    expect(await settled(third)).toBe('waits')
    leaves[0]?.()
    expect(await settled(third)).toBe('has it')
    expect(turns.tryTake('acme', 't', { concurrency: 2 })).toBeNull()
  })

  test('go in the order of asking', async () => {
    const turns = createConcurrencyLimit()
    const order: number[] = []
    const first = await take(turns)
    const waiting = [1, 2, 3].map(async (one) => {
      const leave = await take(turns)
      order.push(one)
      leave()
    })
    first()
    await Promise.all(waiting)
    expect(order).toEqual([1, 2, 3])
  })

  test('cannot be taken past those who wait', async () => {
    const turns = createConcurrencyLimit()
    const first = await take(turns)
    const second = take(turns)
    first()
    expect(turns.tryTake('acme', 't', { concurrency: 1 })).toBeNull()
    ;(await second)()
    expect(turns.tryTake('acme', 't', { concurrency: 1 })).not.toBeNull()
  })

  test('are fewer when the limit was lowered, although calls wait all the time', async () => {
    const turns = createConcurrencyLimit()
    const leaves = [await take(turns, 't', 2), await take(turns, 't', 2)]
    const waiting = [take(turns, 't', 1), take(turns, 't', 1)] as const
    leaves[0]?.()
    expect(await settled(waiting[0])).toBe('waits')
    leaves[1]?.()
    expect(await settled(waiting[0])).toBe('has it')
    expect(await settled(waiting[1])).toBe('waits')
  })

  test('are more when the limit was raised, and go first to those who wait', async () => {
    const turns = createConcurrencyLimit()
    await take(turns, 't', 1)
    const waiting = take(turns, 't', 1)
    const newcomer = take(turns, 't', 2)
    expect(await settled(waiting)).toBe('has it')
    expect(await settled(newcomer)).toBe('waits')
  })

  test('of a tenant that floods leave the others alone', async () => {
    const turns = createConcurrencyLimit()
    await take(turns)
    for (let one = 0; one < 100; one += 1) void take(turns)
    expect(await settled(take(turns, 'other'))).toBe('has it')
    expect(turns.tryTake('beta', 't', { concurrency: 1 })).not.toBeNull()
  })

  test('are refused when too many of a connector wait', async () => {
    const turns = createConcurrencyLimit()
    await take(turns)
    for (let one = 0; one < MAX_WAITING; one += 1) void take(turns)
    await expect(take(turns)).rejects.toMatchObject({ code: 'queue_full' })
  })
})

describe('where the line of a connector is full', () => {
  /** One tenant holds its turn, and all places of the line. */
  async function flooded() {
    const turns = createConcurrencyLimit()
    const leave = await take(turns, 'flood')
    const refused = { count: 0 }
    const flood = Array.from({ length: MAX_WAITING }, () =>
      take(turns, 'flood').catch((error) => {
        expect(error).toMatchObject({ code: 'queue_full' })
        refused.count += 1
      }),
    )
    return { turns, leave, flood, refused }
  }

  test('another tenant still gets a place, and the newest of the longest line goes', async () => {
    const { turns, flood, refused } = await flooded()
    const leave = await take(turns, 'other')
    const second = take(turns, 'other')
    expect(await settled(second)).toBe('waits')
    expect([refused.count, turns.waiting]).toEqual([1, MAX_WAITING])
    expect(await settled(flood[0] as Promise<unknown>)).toBe('waits')
    leave()
    expect(await settled(second)).toBe('has it')
  })

  test('it is shared in the end, and nobody sends others away for more than that', async () => {
    const { turns, refused } = await flooded()
    await take(turns, 'other')
    const others = Array.from({ length: MAX_WAITING }, () => take(turns, 'other'))
    const ends = await Promise.all(others.map((one) => settled(one.then(() => {}))))
    expect(ends.filter((end) => end === 'waits')).toHaveLength(MAX_WAITING / 2)
    expect([refused.count, turns.waiting]).toEqual([MAX_WAITING / 2, MAX_WAITING])
  })

  test('those that were sent away leave nothing behind', async () => {
    const { turns, leave, flood } = await flooded()
    const other = await take(turns, 'other')
    const second = take(turns, 'other')
    other()
    ;(await second)()
    leave()
    for (const one of flood) (await one)?.()
    expect(turns.waiting).toBe(0)
    expect(turns.tryTake('acme', 'flood', { concurrency: 1 })).not.toBeNull()
  })
})

describe('who gives up waiting', () => {
  test('is refused with their own reason and lets the next one in', async () => {
    const turns = createConcurrencyLimit()
    const first = await take(turns)
    const hangUp = new AbortController()
    const second = take(turns, 't', 1, hangUp.signal)
    const third = take(turns)
    hangUp.abort(new Error('bye'))
    await expect(second).rejects.toThrow('bye')
    first()
    expect(await settled(third)).toBe('has it')
  })

  test('makes room in the queue', async () => {
    const turns = createConcurrencyLimit()
    await take(turns)
    const hangUp = new AbortController()
    const waiting = Array.from({ length: MAX_WAITING }, () => take(turns, 't', 1, hangUp.signal))
    hangUp.abort()
    await Promise.allSettled(waiting)
    expect(await settled(take(turns))).toBe('waits')
  })

  test('before asking does not wait at all', async () => {
    const turns = createConcurrencyLimit()
    await take(turns)
    await expect(take(turns, 't', 1, AbortSignal.abort())).rejects.toThrow('abort')
  })

  test('after having had the turn loses nothing', async () => {
    const turns = createConcurrencyLimit()
    const hangUp = new AbortController()
    const leave = await take(turns, 't', 1, hangUp.signal)
    hangUp.abort()
    leave()
    expect(turns.tryTake('acme', 't', { concurrency: 1 })).not.toBeNull()
  })
})
