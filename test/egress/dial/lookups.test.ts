import { expect, test } from 'vitest'
import { createLookups } from '../../../runtime/egress/dial/lookups.ts'
import { errorOf } from '../fixtures/door.ts'

test('asks once for one name at a time, and again afterwards', async () => {
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

test('runs four at once and the others in order', async () => {
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

test('goes on after a lookup that failed', async () => {
  const lookups = createLookups(async (name) => {
    if (name.startsWith('bad')) throw new Error('not found')
    return [name]
  })
  const failed = ['bad1', 'bad2', 'bad3', 'bad4', 'bad5'].map((name) => lookups(name))
  expect((await Promise.allSettled(failed)).every(({ status }) => status === 'rejected')).toBe(true)
  expect(await lookups('good')).toEqual(['good'])
})

test('refuses when too many names wait', async () => {
  const lookups = createLookups(() => new Promise(() => {}))
  for (let index = 0; index < 4 + 256; index += 1) lookups(`n${index}`).catch(() => {})
  expect(await errorOf(lookups('one-more'))).toMatchObject({ code: 'upstream_connect_timeout' })
})
