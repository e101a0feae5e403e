/** Finds arrays in place of objects. valibot accepts an array as an object or a record: `[1]` as `{"0": 1}`. */
import { isRecord } from './record.ts'
import { type AnySchema, shapeOf } from './shape.ts'

type Path = (string | number)[]

/** An array, and the type of the schema at its place: `object`, `strict_object`, `record` ... */
type MisplacedArray = { path: Path; expected: string }

/** Returns the arrays in a value for which the schema requires an object or a record. */
export function misplacedArrays(schema: AnySchema, value: unknown): MisplacedArray[] {
  const found: MisplacedArray[] = []
  collect(schema, value, [], found)
  return found
}

function collect(schema: AnySchema, value: unknown, path: Path, found: MisplacedArray[]): void {
  if (!isRecord(value)) return
  const { type, entries, item, value: member, wrapped } = shapeOf(schema)
  if (wrapped) return collect(wrapped, value, path, found)
  // Most members are texts: no path is made for them.
  const into = (key: string | number, inner: AnySchema | undefined, one: unknown) => {
    if (inner && isRecord(one)) collect(inner, one, [...path, key], found)
  }
  if (Array.isArray(value)) {
    if (entries || type === 'record') found.push({ path, expected: type })
    else for (const [at, one] of value.entries()) into(at, item, one)
  } else if (entries) {
    for (const [name, inner] of Object.entries(entries))
      if (Object.hasOwn(value, name)) into(name, inner, value[name])
  } else if (type === 'record') {
    for (const [name, one] of Object.entries(value)) into(name, member, one)
  }
}
