/** A value that is filled in without the schema must equal the output of the schema. */
import { assert, constantFrom, dictionary, jsonValue, oneof, property, string } from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { fillOf } from '../../../runtime/contract/schema/fill.ts'
import { nullable } from '../../../runtime/contract/schema/schemas.ts'

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

/** The output of the schema; undefined if it refuses the value or would fill in more than null. */
function made(value: unknown): unknown {
  const { success, output } = v.safeParse(Whole, value)
  const { count } = isObject(value) ? value : { count: null }
  return success && typeof count === 'number' ? output : undefined
}

const holdsUndefined = (value: unknown): boolean =>
  isObject(value) && Object.values(value).some((one) => one === undefined || holdsUndefined(one))

const isObject = (value: unknown): value is { count?: unknown } =>
  typeof value === 'object' && value !== null

test('a complete value stays the same, and missing nullable members become null', () => {
  const fill = fillOf(Whole)
  expect(fill(WHOLE)).toBe(WHOLE)
  const { note: _, ...without } = WHOLE
  expect(fill({ ...without, parts: [{ kind: 'one' }] })).toEqual({
    ...WHOLE,
    parts: [{ kind: 'one', of: null }],
  })
})

test('a value is filled in as by its schema, or left to the schema', async () => {
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
          const filled = fillOf(Whole)(value)
          // An undefined member is left to the schema.
          if (filled !== undefined || !holdsUndefined(value)) expect(filled).toEqual(made(value))
          if (filled !== undefined) expect(v.parse(Whole, value)).toStrictEqual(filled)
        }
      },
    ),
  )
})

test.each([
  ['is checked further', v.pipe(v.string(), v.minLength(2)), 'ab'],
  ['is converted', v.pipe(v.string(), v.transform(Number)), '1'],
  ['is a record', v.record(v.string(), v.number()), { a: 1 }],
])('a schema whose value %s is not replaced', (_, schema, value) => {
  expect(fillOf(schema)(value)).toBeUndefined()
})
