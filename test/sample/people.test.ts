import { expect, test } from 'vitest'
import { groupsOf, PEOPLE_COUNT, people } from '../../runtime/sample/people.ts'

test('generates the same people every time', () => {
  expect(people()).toEqual(people())
  expect(people()).toHaveLength(PEOPLE_COUNT)
})

test('gives everyone a unique id, name and address', () => {
  for (const key of ['id', 'email'] as const) {
    expect(new Set(people().map((one) => one[key])).size).toBe(PEOPLE_COUNT)
  }
  const names = people().map((one) => `${one.givenName} ${one.familyName}`)
  expect(new Set(names).size).toBe(PEOPLE_COUNT)
})

test('leaves no field empty, and uses addresses of plain letters at example.com', () => {
  for (const one of people()) {
    expect(one.email).toMatch(/^[a-z]+\.[a-z]+@example\.com$/)
    expect([one.givenName, one.familyName, one.title, one.department]).not.toContain('')
  }
})

test('makes every 25th person inactive', () => {
  const inactive = people().flatMap((one, i) => (one.active ? [] : [i + 1]))
  expect(inactive).toEqual([25, 50, 75, 100, 125, 150, 175, 200, 225, 250])
})

test('has one head in every department, who manages the others', () => {
  const everyone = people()
  for (const one of everyone) {
    const manager = everyone.find((other) => other.id === one.managerId)
    expect(manager?.department ?? one.department).toBe(one.department)
    expect(manager?.managerId ?? null).toBeNull()
  }
  expect(everyone.filter((one) => one.managerId === null)).toHaveLength(8)
})

test('puts people into a dozen groups, one of them empty', () => {
  const groups = groupsOf(people())
  expect(Object.keys(groups)).toHaveLength(12)
  expect(groups['All Staff']).toHaveLength(240)
  expect(Object.entries(groups).flatMap(([name, one]) => (one.length === 0 ? name : []))).toEqual([
    'Office Move 2027',
  ])
})
