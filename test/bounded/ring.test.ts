import { expect, test } from 'vitest'
import { CACHES } from '../../runtime/bounded/caches.ts'
import { createRing } from '../../runtime/bounded/ring.ts'

const { maxEntries, maxBytes } = CACHES.calls

function ring() {
  const made = createRing(
    'calls',
    () => ({ name: '' }),
    (slot) => {
      slot.name = ''
    },
  )
  return {
    add(name: string, bytes = 1) {
      const slot = made.take(bytes)
      if (slot !== null) slot.name = name
      return slot
    },
    names: () => [...made.newest()].map(({ name }) => name),
  }
}

test('entries are listed newest first, and the oldest is dropped when there are too many', () => {
  const { add, names } = ring()
  for (let nth = 0; nth <= maxEntries; nth += 1) add(`${nth}`)
  expect(names()).toHaveLength(maxEntries)
  expect([names()[0], names().at(-1)]).toEqual([`${maxEntries}`, '1'])
})

test('the slot of a dropped entry is reused', () => {
  const { add } = ring()
  const first = add('first')
  for (let nth = 1; nth < maxEntries; nth += 1) add(`${nth}`)
  expect(first?.name).toBe('first')
  expect(add('last')).toBe(first)
})

test('a large entry drops as many of the oldest as needed, and one that is too large is refused', () => {
  const { add, names } = ring()
  const third = maxBytes / 3
  const small = add('a', third)
  add('b', third)
  add('c', third)
  add('d', 2 * third)
  expect(names()).toEqual(['d', 'c'])
  expect(small?.name).toBe('')
  expect(add('e', maxBytes + 1)).toBeNull()
  expect(names()).toEqual(['d', 'c'])
})
