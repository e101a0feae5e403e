import { describe, expect, test } from 'vitest'
import { changedMembers, mergePatch } from '../../../../runtime/core/catalogue/store/merge.ts'

describe('mergePatch', () => {
  // The examples of RFC 7396, appendix A, that begin and end with an object.
  test.each([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('%j changed by %j is %j', (document, patch, expected) => {
    expect(mergePatch(document, patch)).toEqual(expected)
  })

  test('does not modify its arguments', () => {
    const document = { a: { b: 1 } }
    mergePatch(document, { a: { b: 2 } })
    expect(document).toEqual({ a: { b: 1 } })
  })
})

test('changedMembers returns paths, treats lists as a whole, and ignores the order of members', () => {
  const before = { a: 1, b: { c: [1, 2], d: [{ x: 1, y: 2 }], e: null } }
  const after = { b: { d: [{ y: 2, x: 1 }], c: [2, 1], e: null }, a: 1, f: 'new' }
  expect(changedMembers(before, after)).toEqual(['b.c', 'f'])
})
