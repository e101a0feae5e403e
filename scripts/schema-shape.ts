/** Writes a JSON Schema in the notation of TypeScript. */
import type { JsonSchema } from '../runtime/http/schemas/tidy.ts'
import { code } from './markdown.ts'

/** Returns the members of an object in one line: `email?: string`. */
export function members(schema: JsonSchema): string {
  const { properties = {}, required: needed = [] } = schema as {
    properties?: Record<string, JsonSchema>
    required?: string[]
  }
  const all = Object.entries(properties).map(([name, one]) => {
    const optional = !needed.includes(name) || isNullable(one)
    return code(`${name}${optional ? '?' : ''}: ${shape(one)}`)
  })
  return all.length === 0 ? 'nothing' : all.join(', ')
}

const isNullable = (schema: JsonSchema): boolean =>
  [schema['type']].flat().includes('null') ||
  (schema.anyOf ?? []).some(({ type }) => type === 'null')

/** Returns a type in the notation of TypeScript, without null. */
export function shape(schema: JsonSchema): string {
  const { $ref, anyOf, items, properties, additionalProperties: rest, ...own } = schema
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1)
  if (own['const'] !== undefined) return JSON.stringify(own['const'])
  if (Array.isArray(own['enum']))
    return choice(own['enum'].filter((one) => one !== null).map(String))
  if (anyOf) return choice(anyOf.filter((one) => one['type'] !== 'null').map(shape))
  if (items) return items['enum'] ? `(${shape(items)})[]` : `${shape(items)}[]`
  if (properties) return `{ ${plainMembers(schema)} }`
  if (typeof rest === 'object') return `{ [name]: ${shape(rest)} }`
  return choice([own.type ?? 'any'].flat().filter((one) => one !== 'null'))
}

const choice = (names: string[]): string => names.join(' / ')

const plainMembers = (schema: JsonSchema): string => members(schema).replaceAll('`', '')
