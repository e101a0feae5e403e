import { expect, test } from 'vitest'
import { createSlots } from '../../runtime/bounded/slots.ts'

const one = (name: string) => ({ name })

test('a value is found by its number until it is deleted, and numbers are not reused', () => {
  const slots = createSlots<{ name: string }>()
  const ids = Array.from({ length: 1000 }, (_, nth) => {
    const id = slots.add(one(`${nth}`))
    expect(slots.get(id)).toEqual(one(`${nth}`))
    slots.delete(id)
    slots.delete(id)
    expect(slots.get(id)).toBeUndefined()
    return id
  })
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))
  expect(new Set(ids).size).toBe(ids.length)
  expect(slots.size).toBe(0)
})

test('any number of values can be added, also after deletions', () => {
  const slots = createSlots<{ name: string }>()
  const held = new Map<number, string>()
  for (let nth = 0; nth < 2000; nth += 1) {
    held.set(slots.add(one(`${nth}`)), `${nth}`)
    // Two of three are deleted, so that some slots are empty when the table has to grow.
    const [oldest] = held.keys()
    if (nth % 3 === 0 || oldest === undefined) continue
    slots.delete(oldest)
    held.delete(oldest)
  }
  expect(slots.size).toBe(held.size)
  for (const [id, name] of held) expect(slots.get(id)?.name).toBe(name)
  expect(new Set(slots.values().map(({ name }) => name))).toEqual(new Set(held.values()))
})

test('a value that stays is kept while many others are added and deleted', () => {
  const slots = createSlots<{ name: string }>()
  const stays = slots.add(one('stays'))
  for (let nth = 0; nth < 10_000; nth += 1) slots.delete(slots.add(one('goes')))
  expect(slots.get(stays)).toEqual(one('stays'))
  expect(slots.values()).toEqual([one('stays')])
})

test('numbers start again after the maximum and skip those in use', () => {
  const slots = createSlots<{ name: string }>(200)
  const stays = slots.add(one('stays'))
  const ids = Array.from({ length: 500 }, () => {
    const id = slots.add(one('goes'))
    slots.delete(id)
    return id
  })
  expect(Math.max(...ids)).toBe(200)
  expect(ids.filter((id) => id === stays)).toEqual([])
  expect(slots.get(stays)).toEqual(one('stays'))
  expect(slots.size).toBe(1)
})
