import { describe, expect, test } from 'vitest'
import { differences } from '../../runtime/testing/differences.ts'

describe('the differences of two values', () => {
  const cases: [string, unknown, unknown, string[]][] = [
    ['equal values', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
    ['another order of members', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
    ['an undefined member', { a: undefined }, {}, []],
    [
      'another value deep inside',
      [{ a: { b: 1 } }],
      [{ a: { b: 2 } }],
      ['r[0].a.b should be 1, is 2'],
    ],
    ['another type', { a: 1 }, { a: '1' }, ['r.a should be 1, is "1"']],
    ['null and an object', { a: null }, { a: {} }, ['r.a should be null, is {}']],
    ['a list and an object', [], {}, ['r should be [], is {}']],
    ['undefined and a value', { a: 1 }, undefined, ['r should be {"a":1}, is nothing']],
    ['a missing member', { a: 1 }, {}, ['r.a should be 1, is missing']],
    ['an extra member', {}, { 'a-b': 1 }, ['r["a-b"] should be absent, is 1']],
    ['an inherited name', { toString: 1 }, {}, ['r.toString should be 1, is missing']],
    ['a missing item', [1, 2], [1], ['r[1] should be 2, is missing']],
    ['an extra item', [1], [1, 2], ['r[1] should be absent, is 2']],
  ]
  test.each(cases)('%s', (_name, expected, found, told) => {
    expect(differences('r', expected, found)).toEqual(told)
  })

  test('three of many, and the number of others', () => {
    expect(differences('r', [1, 2, 3, 4, 5], [])).toEqual([
      'r[0] should be 1, is missing',
      'r[1] should be 2, is missing',
      'r[2] should be 3, is missing',
      'r differs in 2 more places',
    ])
  })
})
