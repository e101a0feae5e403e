import { expect, it } from 'vitest'
import { circlesOf } from './circles.ts'

it('circlesOf returns the members of each circle, and no node that only leads to one', () => {
  const graph = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['b']],
    ['d', ['e']],
    ['e', ['f']],
    ['f', ['d']],
  ])
  expect(circlesOf(graph)).toEqual([
    ['b', 'c'],
    ['d', 'e', 'f'],
  ])
})
