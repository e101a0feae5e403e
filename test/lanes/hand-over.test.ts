/** Flow control of large bodies that are sent to a worker. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createHandOver } from '../../runtime/lanes/hand-over.ts'

const never = new AbortController().signal

/** A hand-over of named bodies. `seen` lists those that were admitted or refused ("not"), in order. */
function way(limits = { maxSentBytes: 10, maxHeldBytes: 100 }) {
  const { enter, left } = createHandOver(limits)
  const seen: string[] = []
  const tickets = new Map<string, number>()
  return {
    seen,
    async ask(name: string, isolate: number, bytes: number, signal = never) {
      void enter(isolate, bytes, signal).then((ticket) => {
        seen.push(ticket === null ? `${name} not` : name)
        if (ticket !== null) tickets.set(name, ticket)
      })
      await turn()
    },
    async left(name: string) {
      const known = left(tickets.get(name) ?? 0)
      await turn()
      return known
    },
  }
}

test('at most maxSentBytes are sent at once; further bodies wait until some have left', async () => {
  const { ask, left, seen } = way()
  await ask('a', 1, 6)
  await ask('b', 1, 4)
  await ask('c', 1, 1)
  expect(seen).toEqual(['a', 'b'])
  expect(await left('b')).toBe(true)
  expect(await left('b')).toBe(false)
  expect(seen).toEqual(['a', 'b', 'c'])
})

test('a body larger than maxSentBytes is sent alone', async () => {
  const { ask, left, seen } = way()
  await ask('a', 1, 1)
  await ask('b', 1, 50)
  await left('a')
  await ask('c', 2, 1)
  expect(seen).toEqual(['a', 'b'])
  await left('b')
  expect(seen).toEqual(['a', 'b', 'c'])
})

test('isolates take turns', async () => {
  const { ask, left, seen } = way()
  for (const name of ['a1', 'a2', 'a3']) await ask(name, 1, 10)
  await ask('b1', 2, 10)
  for (const name of ['a1', 'a2', 'b1', 'a3']) await left(name)
  expect(seen).toEqual(['a1', 'a2', 'b1', 'a3'])
})

test('one isolate may hold three quarters of maxHeldBytes; the rest stays free for others', async () => {
  const { ask, left, seen } = way()
  await ask('a', 1, 10)
  await ask('b', 1, 65)
  await ask('c', 1, 1)
  await ask('d', 2, 10)
  expect(seen).toEqual(['a', 'c not'])
  await left('a')
  await left('b')
  expect(seen).toEqual(['a', 'c not', 'b', 'd'])
  await left('d')
  await ask('e', 1, 75)
  expect(seen.at(-1)).toBe('e')
})

test('a body that is aborted while it waits gives its bytes back', async () => {
  const { ask, left, seen } = way()
  const abort = new AbortController()
  await ask('a', 1, 10)
  await ask('b', 1, 65, abort.signal)
  await ask('c', 1, 10)
  abort.abort()
  await ask('d', 1, 65)
  await left('a')
  expect(seen).toEqual(['a', 'c not', 'b not', 'd'])
})
