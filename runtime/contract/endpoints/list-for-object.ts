/** Finds lists in place of objects. valibot accepts a list as an object without members. */

import { isRecord } from '../schema/record.ts'
import { type AnySchema, shapeOf } from '../schema/shape.ts'

type Path = (string | number)[]

/** Returns the paths of lists in a value for which the schema requires an object. */
export function listsForObjects(schema: AnySchema, value: unknown, path: Path = []): Path[] {
  const { entries, item, wrapped } = shapeOf(schema)
  if (wrapped) return listsForObjects(wrapped, value, path)
  if (Array.isArray(value)) {
    if (entries) return [path]
    return item ? value.flatMap((one, index) => listsForObjects(item, one, [...path, index])) : []
  }
  if (!entries || !isRecord(value)) return []
  return Object.entries(entries).flatMap(([name, one]) =>
    listsForObjects(one, value[name], [...path, name]),
  )
}
