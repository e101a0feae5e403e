import { expect, test } from 'vitest'
import { createLookups, createLookupsOf } from '../../../runtime/egress/dial/lookups.ts'
import { errorOf } from '../fixtures/open-egress.ts'

test('shares a running lookup of the same name, and looks it up again afterwards', async () => {
  const asked: string[] = []
  const lookups = createLookups(async (name) => {
    asked.push(name)
    return [String(asked.length)]
  })
  expect(await Promise.all([lookups('a'), lookups('a'), lookups('b')])).toEqual([
    ['1'],
    ['1'],
    ['2'],
  ])
  expect(await lookups('a')).toEqual(['3'])
})

test('runs four lookups at once and the others in order', async () => {
  const ends: (() => void)[] = []
  const asked: string[] = []
  const lookups = createLookups((name) => {
    asked.push(name)
    return new Promise((resolve) => ends.push(() => resolve([name])))
  })
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const answers = names.map((name) => lookups(name))
  expect(asked).toEqual(['a', 'b', 'c', 'd'])
  ends[2]!()
  await answers[2]
  expect(asked).toEqual(['a', 'b', 'c', 'd', 'e'])
  ends[0]!()
  await answers[0]
  expect(asked).toEqual(names)
})

test('continues after lookups that failed', async () => {
  const lookups = createLookups(async (name) => {
    if (name.startsWith('bad')) throw new Error('not found')
    return [name]
  })
  const failed = ['bad1', 'bad2', 'bad3', 'bad4', 'bad5'].map((name) => lookups(name))
  expect((await Promise.allSettled(failed)).every(({ status }) => status === 'rejected')).toBe(true)
  expect(await lookups('good')).toEqual(['good'])
})

test('refuses a lookup when too many names are queued', async () => {
  const lookups = createLookups(() => new Promise(() => {}))
  for (let index = 0; index < 4 + 256; index += 1) lookups(`n${index}`).catch(() => {})
  expect(await errorOf(lookups('one-more'))).toMatchObject({ code: 'upstream_connect_timeout' })
})

const ended = () => new Error('ended')

test('ends a lookup for the caller that aborted, and continues it for another caller', async () => {
  const answer = Promise.withResolvers<string[]>()
  const lookups = createLookups(() => answer.promise)
  const gone = new AbortController()
  const first = lookups('a', { signal: gone.signal, timeoutMs: 10_000, ended })
  const second = lookups('a', { timeoutMs: 10_000, ended })
  gone.abort()
  await expect(first).rejects.toThrow('ended')
  answer.resolve(['1'])
  expect(await second).toEqual(['1'])
})

test('runs no more than four lookups, even when all their callers have gone', async () => {
  const asked: string[] = []
  const ends: (() => void)[] = []
  const lookups = createLookups((name) => {
    asked.push(name)
    return new Promise((resolve) => ends.push(() => resolve([name])))
  })
  const gone = new AbortController()
  const asker = { signal: gone.signal, timeoutMs: 10_000, ended }
  const names = Array.from({ length: 4 + 256 }, (_, index) => `n${index}`)
  const all = names.map((name) => lookups(name, asker))
  gone.abort()
  expect((await Promise.allSettled(all)).every(({ status }) => status === 'rejected')).toBe(true)
  // None of them takes up a place in the queue, and a name without a caller is not looked up.
  const later = lookups('later')
  expect(asked).toEqual(['n0', 'n1', 'n2', 'n3'])
  ends[0]?.()
  await new Promise((resolve) => setImmediate(resolve))
  expect(asked).toEqual(['n0', 'n1', 'n2', 'n3', 'later'])
  ends[4]?.()
  expect(await later).toEqual(['later'])
})

test('causes no unhandled rejection when a lookup fails after its caller has gone', async () => {
  const answer = Promise.withResolvers<string[]>()
  const lookups = createLookups(() => answer.promise)
  const gone = new AbortController()
  const first = lookups('a', { signal: gone.signal, timeoutMs: 10_000, ended })
  gone.abort()
  await expect(first).rejects.toThrow('ended')
  answer.reject(new Error('not found'))
  await new Promise((resolve) => setImmediate(resolve))
})

test('bounds the lookups of a connector across ended calls, without affecting other connectors', async () => {
  const asked: string[] = []
  const lookupsOf = createLookupsOf((name) => {
    asked.push(name)
    return new Promise(() => {})
  })
  for (let call = 0; call < 6; call += 1) {
    const gone = new AbortController()
    const one = lookupsOf('acme')(`n${call}`, { signal: gone.signal, timeoutMs: 10_000, ended })
    gone.abort()
    await expect(one).rejects.toThrow('ended')
  }
  void lookupsOf('other')('other')
  expect(asked).toEqual(['n0', 'n1', 'n2', 'n3', 'other'])
})
