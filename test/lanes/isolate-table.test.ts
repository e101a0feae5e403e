import { describe, expect, test } from 'vitest'
import { createIsolateTable, type IsolateLimits } from '../../runtime/lanes/isolate-table.ts'

function open(limits: Partial<IsolateLimits> = {}) {
  let now = 0
  const table = createIsolateTable(
    {
      maxIsolates: 3,
      maxCalls: 100,
      maxAgeMs: 1000,
      warmIsolates: 1,
      warmMs: 500,
      ...limits,
    },
    () => now,
  )
  const take = (connector: string, key: string) => {
    const { isolate, evicted } = table.take(connector, key)
    return { isolate: isolate as number, evicted }
  }
  /** Takes an isolate and releases it at once. */
  const use = (connector: string, key: string) => {
    const taken = take(connector, key)
    table.release(taken.isolate)
    for (const one of taken.evicted) table.forget(one)
    return taken
  }
  return { table, take, use, pass: (ms: number) => (now += ms) }
}

describe('an isolate', () => {
  test('serves one connector and one key repeatedly', () => {
    const { table, use } = open()
    const { isolate } = use('a', 'one')
    expect(use('a', 'one').isolate).toBe(isolate)
    const others = [use('a', 'two').isolate, use('b', 'one').isolate]
    expect(new Set([isolate, ...others]).size).toBe(3)
    expect(table.size).toBe(3)
  })

  test('serves several calls at once', () => {
    const { table } = open()
    expect(table.take('a', 'one').isolate).toBe(table.take('a', 'one').isolate)
  })

  test.each([
    ['its maximum number of calls', { maxCalls: 2 }, 0],
    ['its maximum age', { maxAgeMs: 50 }, 50],
  ])('is replaced after %s', (_name, limits, ms) => {
    const { use, pass } = open(limits)
    const first = use('a', 'one').isolate
    expect(use('a', 'one').isolate).toBe(first)
    pass(ms)
    const { isolate, evicted } = use('a', 'one')
    expect(isolate).not.toBe(first)
    expect(evicted).toEqual([first])
  })

  test('that reaches its limit while it runs is removed when its last call ends', () => {
    const { table, take } = open({ maxCalls: 1 })
    const first = take('a', 'one').isolate
    const { isolate, evicted } = take('a', 'one')
    expect([isolate === first, evicted]).toEqual([false, []])
    expect(table.release(first)).toBe(true)
    expect(table.has(first)).toBe(false)
    expect(table.release(isolate)).toBe(false)
  })
})

describe('eviction', () => {
  test('removes the least recently used isolate', () => {
    const { use } = open()
    const [one, two, three] = ['1', '2', '3'].map((key) => use('a', key).isolate)
    use('a', '1')
    expect(use('a', '4').evicted).toEqual([two])
    expect(use('a', '5').evicted).toEqual([three])
    expect(use('a', '6').evicted).toEqual([one])
  })

  test('never removes a running isolate: another tenant gets none until one is idle', () => {
    const { table, take } = open()
    const running = ['1', '2', '3'].map((key) => take('a', key).isolate)
    expect(table.take('a', '4')).toEqual({ isolate: null, evicted: [] })
    expect(running.every((isolate) => table.has(isolate))).toBe(true)
    expect(take('a', '1').isolate).toBe(running[0])
    table.release(running[1] as number)
    expect(table.take('a', '4')).toEqual({ isolate: 4, evicted: [running[1]] })
  })

  test('stops while too many evicted isolates are not yet gone', () => {
    const { table } = open({ maxIsolates: 1 })
    const cycle = (key: string) => {
      const { isolate } = table.take('a', key)
      if (isolate !== null) table.release(isolate)
      return isolate
    }
    const taken = Array.from({ length: 20 }, (_, key) => cycle(`${key}`))
    expect(taken.filter((isolate) => isolate !== null)).toHaveLength(9)
    table.forget(1)
    expect(cycle('next')).not.toBeNull()
  })
})

describe('a retiring isolate', () => {
  test('takes no new calls and is removed after its last one', () => {
    const { table, take } = open()
    const { isolate } = take('a', 'one')
    take('a', 'one')
    expect(table.retire(isolate)).toBe(false)
    expect(table.take('a', 'one').isolate).not.toBe(isolate)
    expect([table.release(isolate), table.release(isolate)]).toEqual([false, true])
  })

  test('that is idle is removed at once', () => {
    const { table, use } = open()
    const { isolate } = use('a', 'one')
    expect(table.retire(isolate)).toBe(true)
    expect(table.has(isolate)).toBe(false)
  })
})

test('later calls about a forgotten isolate have no effect', () => {
  const { table, take } = open()
  const { isolate } = take('a', 'one')
  table.forget(isolate)
  expect([table.release(isolate), table.retire(isolate), table.size]).toEqual([false, false, 0])
  table.forget(isolate)
  expect(table.take('a', 'one').isolate).not.toBe(isolate)
})

describe('an idle isolate is due for a check', () => {
  test('once after each use, then from time to time', () => {
    const { table, use, pass } = open({ maxAgeMs: 1_000_000 })
    const { isolate } = use('a', 'one')
    expect([table.toCheck(), table.toCheck()]).toEqual([[isolate], []])
    pass(1500)
    expect(table.toCheck()).toEqual([])
    use('a', 'one')
    expect(table.toCheck()).toEqual([isolate])
    pass(10_000)
    expect(table.toCheck()).toEqual([isolate])
  })

  test('not while calls run in it', () => {
    const { table, take } = open()
    const { isolate } = take('a', 'one')
    expect([table.toCheck(), table.serves(isolate)]).toEqual([[], true])
    table.release(isolate)
    expect([table.toCheck(), table.serves(isolate)]).toEqual([[isolate], false])
  })
})

describe('idle isolates are removed', () => {
  test('where there are many, least recently used first', () => {
    const { table, use, pass } = open()
    const [one, two, three] = ['1', '2', '3'].map((key) => use('a', key).isolate)
    pass(400)
    use('a', '1')
    expect(table.cool()).toEqual([])
    pass(100)
    expect([table.cool(), table.size]).toEqual([[two, three], 1])
    expect(table.has(one as number)).toBe(true)
  })

  test('except for a few, however long those have been unused', () => {
    const { table, use, pass } = open({ warmIsolates: 2 })
    for (const key of ['1', '2']) use('a', key)
    pass(1_000_000)
    expect(table.cool()).toEqual([])
  })

  test('never while calls run in them; their idle time starts when the last call ends', () => {
    const { table, take, pass } = open({ warmIsolates: 0 })
    const { isolate } = take('a', '1')
    pass(1000)
    expect(table.cool()).toEqual([])
    table.release(isolate)
    pass(499)
    expect(table.cool()).toEqual([])
    pass(1)
    expect(table.cool()).toEqual([isolate])
  })

  test('a few at a time, and their tenants get new ones', () => {
    const { table, use, pass } = open({ maxIsolates: 20, warmIsolates: 0 })
    const isolates = Array.from({ length: 6 }, (_, key) => use('a', `${key}`).isolate)
    pass(500)
    expect([table.cool(), table.cool()]).toEqual([isolates.slice(0, 4), isolates.slice(4)])
    expect(isolates).not.toContain(use('a', '0').isolate)
  })
})
