/** Finds arrays in place of objects. valibot accepts an array as an object without members. */

import { isRecord } from '../schema/record.ts'
import { type AnySchema, shapeOf } from '../schema/shape.ts'

/** Returns the path of the first misplaced array, or null if there is none. */
export function misplacedArray(schema: AnySchema, value: unknown): (string | number)[] | null {
  const { type, entries, item, wrapped } = shapeOf(schema)
  if (wrapped !== undefined) return misplacedArray(wrapped, value)
  if (!isRecord(value)) return null
  if (item !== undefined)
    return Array.isArray(value) ? firstOf(value.map((one, at) => [at, item, one] as const)) : null
  if (Array.isArray(value) && (entries !== undefined || type === 'record')) return []
  if (entries === undefined) return null
  return firstOf(
    Object.entries(entries)
      .filter(([name]) => Object.hasOwn(value, name))
      .map(([name, member]) => [name, member, value[name]] as const),
  )
}

function firstOf(
  members: readonly (readonly [name: string | number, schema: AnySchema, value: unknown])[],
): (string | number)[] | null {
  for (const [name, schema, value] of members) {
    const found = misplacedArray(schema, value)
    if (found !== null) return [name, ...found]
  }
  return null
}
