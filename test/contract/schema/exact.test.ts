/** What is known to be exactly as its schema says is answered as it is: that must be what the schema would have made. */
import { isDeepStrictEqual } from 'node:util'
import { assert, constantFrom, dictionary, jsonValue, oneof, property, string } from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { isExactly } from '../../../runtime/contract/schema/exact.ts'
import { nullable } from '../../../runtime/contract/schema/optional.ts'

const Part = v.pipe(
  v.strictObject({ kind: v.picklist(['one', 'two']), of: nullable(v.number()) }),
  v.metadata({ title: 'Part' }),
)
const Whole = v.strictObject({
  id: v.string(),
  is: v.boolean(),
  note: nullable(v.pipe(v.string(), v.metadata({ description: 'a note' }))),
  count: v.nullish(v.number(), 0),
  last: v.nullable(v.string()),
  parts: v.array(Part),
})

const WHOLE = {
  ...{ id: 'a', is: true, note: null, count: 1, last: null },
  parts: [
    { kind: 'one', of: null },
    { kind: 'two', of: 2 },
  ],
}

/** Whether the schema answers the same value. */
function isMadeTheSame(schema: v.GenericSchema, value: unknown): boolean {
  const { success, output } = v.safeParse(schema, value)
  return success && isDeepStrictEqual(output, value)
}

test('what its schema would fill in, convert or refuse is not exactly as it says', async () => {
  expect(isExactly(Whole)(WHOLE)).toBe(true)
  const names = oneof(constantFrom(...Object.keys(WHOLE), ...Object.keys(Part.entries)), string())
  const values = oneof(jsonValue(), constantFrom(undefined, Number.NaN, 'one', 1, WHOLE.parts))
  const changes = dictionary(names, values, { maxKeys: 2 })
  await assert(
    property(
      changes,
      changes,
      constantFrom<keyof typeof WHOLE>('id', 'note', 'count', 'parts'),
      (outer, inner, without) => {
        const { [without]: _, ...less } = WHOLE
        const part = { kind: 'one', of: null, ...inner }
        for (const one of [WHOLE, less, { ...WHOLE, parts: [...WHOLE.parts, part] }]) {
          const value = { ...one, ...outer }
          expect(isExactly(Whole)(value)).toBe(isMadeTheSame(Whole, value))
        }
      },
    ),
  )
})

test.each([
  ['is checked further', v.pipe(v.string(), v.minLength(2)), 'ab'],
  ['is converted', v.pipe(v.string(), v.transform(Number)), '1'],
  ['is of a kind that is not known', v.record(v.string(), v.number()), { a: 1 }],
])('a schema whose value %s is asked itself', (_, schema, value) => {
  expect(isExactly(schema)(value)).toBe(false)
})
