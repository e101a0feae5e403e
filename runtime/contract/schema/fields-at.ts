/** Field names that a schema allows at a path, used to suggest the right one for a misspelling. */
import type * as v from 'valibot'
import { type AnySchema, schemaEntries, shapeOf, wrappedIn } from './shape.ts'

/** Returns the field names of the object at this path, across all of its alternatives. */
export function fieldsAt(schema: AnySchema, path: readonly PathItem[]): string[] {
  const at = path.reduce<AnySchema[]>(
    (all, { type, key }) => all.flatMap(formsOf).flatMap((one) => within(one, type, String(key))),
    [schema],
  )
  const names = at.flatMap(formsOf).flatMap((one) => Object.keys(schemaEntries(one)))
  return [...new Set(names)]
}

type PathItem = Pick<v.IssuePathItem, 'type' | 'key'>

/** Returns the schema itself, or the schemas that it wraps or chooses from. */
function formsOf(schema: AnySchema): AnySchema[] {
  const wrapped = wrappedIn(schema)
  if (wrapped !== undefined) return formsOf(wrapped)
  const { type, options = [] } = shapeOf(schema)
  if (type !== 'union' && type !== 'variant') return [schema]
  return options.filter(isSchema).flatMap(formsOf)
}

/** Reports whether an option is a schema. The options of a picklist are plain values. */
const isSchema = (one: unknown): one is AnySchema =>
  typeof one === 'object' && one !== null && '~run' in one

function within(schema: AnySchema, type: string, key: string): AnySchema[] {
  const { entries, item, value } = shapeOf(schema)
  const one = type === 'array' ? item : entries === undefined ? value : entries[key]
  return one === undefined ? [] : [one]
}
