/**
 * Whether a value is already what a schema would make of it, so that it need not be made again: asking takes a fifth of the
 * time and no memory. Where it answers no, the schema itself has to be asked.
 */
import type { AnySchema } from './any-schema.ts'
import { entriesOf, shapeOf } from './shape.ts'

type Test = (value: unknown) => boolean

const never: Test = () => false

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** TESTS: type of schema -> what a value of it is. All others are left to the schema. */
const TESTS: Readonly<Record<string, (schema: AnySchema) => Test>> = {
  string: () => (value) => typeof value === 'string',
  number: () => (value) => typeof value === 'number' && !Number.isNaN(value),
  boolean: () => (value) => typeof value === 'boolean',
  picklist(schema) {
    const options = new Set(shapeOf(schema).options)
    return (value) => options.has(value)
  },
  array(schema) {
    const { item } = shapeOf(schema)
    const isItem = item ? isExactly(item) : never
    return (value) => Array.isArray(value) && value.every(isItem)
  },
  strict_object(schema) {
    const entries = Object.entries(entriesOf(schema))
    const members = entries.map(([name, member]) => ({ name, isMember: isExactly(member) }))
    return (value) =>
      isRecord(value) &&
      members.every(({ name, isMember }) => Object.hasOwn(value, name) && isMember(value[name])) &&
      Object.keys(value).length === members.length
  },
  nullish: orNull,
  nullable: orNull,
}

function orNull(schema: AnySchema): Test {
  const { wrapped, default: instead } = shapeOf(schema)
  const isValue = wrapped ? isExactly(wrapped) : never
  // Another default takes the place of null.
  const isNull = instead === undefined || instead === null
  return (value) => (value === null ? isNull : isValue(value))
}

const known = new WeakMap<AnySchema, Test>()

/** The question for a schema. */
export function isExactly(schema: AnySchema): Test {
  const made = known.get(schema)
  if (made) return made
  const { type, pipe = [] } = shapeOf(schema)
  const isPlain = pipe.every((step, at) => at === 0 || step.kind === 'metadata')
  const test = isPlain ? (TESTS[type]?.(schema) ?? never) : never
  known.set(schema, test)
  return test
}
