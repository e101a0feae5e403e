import * as v from 'valibot'
import { expect, test } from 'vitest'
import { parseBodyText } from '../../../runtime/contract/endpoints/body.ts'
import { misplacedArrays } from '../../../runtime/contract/schema/misplaced-arrays.ts'

const schema = v.object({
  name: v.string(),
  settings: v.optional(v.nullable(v.record(v.string(), v.unknown()))),
  owner: v.nullish(v.strictObject({ id: v.optional(v.string()) })),
  rows: v.optional(v.array(v.object({ labels: v.record(v.string(), v.string()) }))),
  byName: v.optional(v.record(v.string(), v.object({}))),
})

test.each([
  ['a record', { settings: [1] }, [{ path: ['settings'], expected: 'record' }]],
  ['an empty record', { settings: [] }, [{ path: ['settings'], expected: 'record' }]],
  ['an object', { owner: [] }, [{ path: ['owner'], expected: 'strict_object' }]],
  [
    'a record in the rows of a list',
    { rows: [{ labels: {} }, { labels: ['x'] }, []] },
    [
      { path: ['rows', 1, 'labels'], expected: 'record' },
      { path: ['rows', 2], expected: 'object' },
    ],
  ],
  [
    'an object in a record',
    { byName: { a: {}, b: [] } },
    [{ path: ['byName', 'b'], expected: 'object' }],
  ],
  ['null and absent members', { settings: null }, []],
  ['a list where a list belongs', { rows: [], settings: { any: [] } }, []],
  ['a member of the prototype', JSON.parse('{"__proto__":[],"toString":[]}'), []],
])('arrays in place of objects: %s', (_, value, found) => {
  expect(misplacedArrays(schema, value)).toEqual(found)
})

test('a body with an array in place of a dictionary is refused in the form of the public service', () => {
  const parsed = parseBodyText(schema, '{"name":"x","settings":["a"],"owner":[]}', true)
  expect(parsed).toEqual({
    ok: false,
    entries: [
      {
        loc: ['body', 'settings'],
        type: 'dict_type',
        msg: 'Input should be a valid dictionary',
      },
      {
        loc: ['body', 'owner'],
        type: 'model_attributes_type',
        msg: 'Input should be a valid dictionary or object to extract fields from',
      },
    ],
  })
})
