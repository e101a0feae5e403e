/** Finds arrays in place of objects. valibot accepts an array as an object or a record: `[1]` as `{"0": 1}`. */
import { isRecord } from './record.ts'
import { type AnySchema, shapeOf } from './shape.ts'

type Path = (string | number)[]

/** An array, and the type of the schema at its place: `object`, `strict_object`, `record` ... */
type MisplacedArray = { path: Path; expected: string }

/** Returns the arrays in a value for which the schema requires an object or a record. */
export function misplacedArrays(
  schema: AnySchema,
  value: unknown,
  path: Path = [],
): MisplacedArray[] {
  const { type, entries, item, value: member, wrapped } = shapeOf(schema)
  if (wrapped) return misplacedArrays(wrapped, value, path)
  if (Array.isArray(value)) {
    if (entries || type === 'record') return [{ path, expected: type }]
    return item ? value.flatMap((one, at) => misplacedArrays(item, one, [...path, at])) : []
  }
  if (!isRecord(value)) return []
  if (type === 'record' && member)
    return Object.entries(value).flatMap(([name, one]) =>
      misplacedArrays(member, one, [...path, name]),
    )
  return Object.entries(entries ?? {}).flatMap(([name, one]) =>
    Object.hasOwn(value, name) ? misplacedArrays(one, value[name], [...path, name]) : [],
  )
}
