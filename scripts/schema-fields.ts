/** The members of a JSON Schema as rows of a table: path, type, default, and whether it is required. */
import type { JsonSchema } from '../runtime/http/schemas/tidy.ts'
import { shape } from './schema-shape.ts'

/** One member. Arrays add nothing to its path, and `*` stands for any name. */
export type SchemaField = { path: string; type: string; default: string; isRequired: boolean }

/** Returns every member of a schema, including nested ones, in the order of the schema. */
export function schemaFields(schema: JsonSchema): SchemaField[] {
  const found = new Map<string, SchemaField>()
  collect(schema, '', found)
  return [...found.values()]
}

function collect(schema: JsonSchema, path: string, found: Map<string, SchemaField>): void {
  const { properties = {}, items, additionalProperties: rest, ...own } = schema
  for (const [name, one] of Object.entries(properties)) {
    const at = path === '' ? name : `${path}.${name}`
    const before = found.get(at)
    const isRequired = own.required?.includes(name) ?? false
    // A member of several forms already seen. Their types are shown together.
    const type = before ? merged(before.type, typeOf(one)) : typeOf(one)
    found.set(at, { path: at, default: defaultOf(one), isRequired, ...before, type })
    collect(one, at, found)
  }
  if (items) collect(items, path, found)
  if (typeof rest === 'object') collect(rest, path === '' ? '*' : `${path}.*`, found)
  const forms = (own.anyOf ?? own.oneOf ?? []).filter((one) => one['type'] === 'object')
  for (const one of forms) collect({ ...one, required: neededInAll(forms) }, path, found)
}

/** A member that is optional in one of several forms is not required. */
function neededInAll([first, ...others]: JsonSchema[]): string[] {
  const needed = first?.required ?? []
  return needed.filter((name) => others.every((one) => one.required?.includes(name)))
}

/** Maximum number of values of an enumeration in a table. Longer ones have a list of their own. */
const MAX_VALUES = 10

/** Returns the type of a member. A type with members of its own is only named, because each has a row. */
function typeOf(schema: JsonSchema): string {
  const { properties, items, additionalProperties: rest, anyOf, oneOf } = schema
  if (anyOf ?? oneOf) return [...new Set((anyOf ?? oneOf ?? []).map(typeOf))].join(' / ')
  if (properties) return 'object'
  if (items) return listOf(items)
  if (typeof rest === 'object') return `{ [name]: ${typeOf(rest)} }`
  if (((schema['enum'] ?? []) as unknown[]).length > MAX_VALUES) return 'string'
  return shape(schema)
}

/** Returns the type of a list. Items of several forms are abbreviated. */
function listOf(items: JsonSchema): string {
  const forms = items['anyOf'] as JsonSchema[] | undefined
  if (forms) return `(${[...new Set(forms.map(typeOf))].join(' / ')})[]`
  return items['properties'] ? 'object[]' : shape({ items })
}

const merged = (one: string, other: string): string =>
  [...new Set([...one.split(' / '), ...other.split(' / ')])].join(' / ')

const defaultOf = ({ default: value }: JsonSchema): string =>
  value === undefined ? '' : JSON.stringify(value)
