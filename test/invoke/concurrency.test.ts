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
  test('are limited to the allowed number; each release lets one more in', async () => {
    const turns = createConcurrencyLimit()
    const leaves = [await take(turns, 't', 2), await take(turns, 't', 2)]
    const third = take(turns, 't', 2)
    expect(await settled(third)).toBe('waits')
    leaves[0]?.()
    expect(await settled(third)).toBe('has it')
    expect(turns.tryTake('acme', 't', { concurrency: 2 })).toBeNull()
  })

  test('are granted in the order of request', async () => {
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

  test('cannot be taken ahead of waiting calls', async () => {
    const turns = createConcurrencyLimit()
    const first = await take(turns)
    const second = take(turns)
    first()
    expect(turns.tryTake('acme', 't', { concurrency: 1 })).toBeNull()
    ;(await second)()
    expect(turns.tryTake('acme', 't', { concurrency: 1 })).not.toBeNull()
  })

  test('follow a lowered limit, even while calls are waiting', async () => {
    const turns = createConcurrencyLimit()
    const leaves = [await take(turns, 't', 2), await take(turns, 't', 2)]
    const waiting = [take(turns, 't', 1), take(turns, 't', 1)] as const
    leaves[0]?.()
    expect(await settled(waiting[0])).toBe('waits')
    leaves[1]?.()
    expect(await settled(waiting[0])).toBe('has it')
    expect(await settled(waiting[1])).toBe('waits')
  })

  test('follow a raised limit, and go to waiting calls first', async () => {
    const turns = createConcurrencyLimit()
    await take(turns, 't', 1)
    const waiting = take(turns, 't', 1)
    const newcomer = take(turns, 't', 2)
    expect(await settled(waiting)).toBe('has it')
    expect(await settled(newcomer)).toBe('waits')
  })

  test('of a flooding tenant do not affect other tenants or connectors', async () => {
    const turns = createConcurrencyLimit()
    await take(turns)
    for (let one = 0; one < 100; one += 1) void take(turns)
    expect(await settled(take(turns, 'other'))).toBe('has it')
    expect(turns.tryTake('beta', 't', { concurrency: 1 })).not.toBeNull()
  })

  test('are refused when too many calls of a connector wait', async () => {
    const turns = createConcurrencyLimit()
    await take(turns)
    for (let one = 0; one < MAX_WAITING; one += 1) void take(turns)
    await expect(take(turns)).rejects.toMatchObject({ code: 'queue_full' })
  })
})

describe('when the queue of a connector is full', () => {
  /** One tenant holds its turn and fills the queue. */
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

  test('another tenant still gets a place, and a newer call of the flooding tenant is refused', async () => {
    const { turns, flood, refused } = await flooded()
    const leave = await take(turns, 'other')
    const second = take(turns, 'other')
    expect(await settled(second)).toBe('waits')
    expect([refused.count, turns.waiting]).toEqual([1, MAX_WAITING])
    expect(await settled(flood[0] as Promise<unknown>)).toBe('waits')
    leave()
    expect(await settled(second)).toBe('has it')
  })

  test('two tenants end up with half of it each', async () => {
    const { turns, refused } = await flooded()
    await take(turns, 'other')
    const others = Array.from({ length: MAX_WAITING }, () => take(turns, 'other'))
    const ends = await Promise.all(others.map((one) => settled(one.then(() => {}))))
    expect(ends.filter((end) => end === 'waits')).toHaveLength(MAX_WAITING / 2)
    expect([refused.count, turns.waiting]).toEqual([MAX_WAITING / 2, MAX_WAITING])
  })

  test('refused calls leave nothing behind', async () => {
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

describe('a caller that aborts', () => {
  test('while waiting is refused with the abort reason and lets the next one in', async () => {
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

  test('while waiting frees its place in the queue', async () => {
    const turns = createConcurrencyLimit()
    await take(turns)
    const hangUp = new AbortController()
    const waiting = Array.from({ length: MAX_WAITING }, () => take(turns, 't', 1, hangUp.signal))
    hangUp.abort()
    await Promise.allSettled(waiting)
    expect(await settled(take(turns))).toBe('waits')
  })

  test('before asking does not wait', async () => {
    const turns = createConcurrencyLimit()
    await take(turns)
    await expect(take(turns, 't', 1, AbortSignal.abort())).rejects.toThrow('abort')
  })

  test('after getting its turn can still release it', async () => {
    const turns = createConcurrencyLimit()
    const hangUp = new AbortController()
    const leave = await take(turns, 't', 1, hangUp.signal)
    hangUp.abort()
    leave()
    expect(turns.tryTake('acme', 't', { concurrency: 1 })).not.toBeNull()
  })
})
