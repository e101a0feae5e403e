/** The field names that a schema allows at a path, to suggest the right one for a misspelling. */
import type * as v from 'valibot'
import { type AnySchema, schemaEntries, shapeOf, wrappedIn } from './shape.ts'

/** Names of the fields of the object at this path; those of every form that it may have. */
export function fieldsAt(schema: AnySchema, path: readonly PathItem[]): string[] {
  const at = path.reduce<AnySchema[]>(
    (all, { type, key }) => all.flatMap(formsOf).flatMap((one) => within(one, type, String(key))),
    [schema],
  )
  const names = at.flatMap(formsOf).flatMap((one) => Object.keys(schemaEntries(one)))
  return [...new Set(names)]
}

type PathItem = Pick<v.IssuePathItem, 'type' | 'key'>

/** The schema itself, or the ones that it stands for. */
function formsOf(schema: AnySchema): AnySchema[] {
  const wrapped = wrappedIn(schema)
  if (wrapped !== undefined) return formsOf(wrapped)
  const { type, options = [] } = shapeOf(schema)
  if (type !== 'union' && type !== 'variant') return [schema]
  return options.filter(isSchema).flatMap(formsOf)
}

/** The options of a picklist are values. */
const isSchema = (one: unknown): one is AnySchema =>
  typeof one === 'object' && one !== null && '~run' in one

function within(schema: AnySchema, type: string, key: string): AnySchema[] {
  const { entries, item, value } = shapeOf(schema)
  const one = type === 'array' ? item : entries === undefined ? value : entries[key]
  return one === undefined ? [] : [one]
}
