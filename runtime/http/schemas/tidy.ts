/** A JSON Schema: keywords and their values. Keywords that contain schemas are named. */
export type JsonSchema = {
  type?: string | string[] | undefined
  properties?: Record<string, JsonSchema> | undefined
  required?: string[] | undefined
  items?: JsonSchema | undefined
  additionalProperties?: JsonSchema | boolean | undefined
  anyOf?: JsonSchema[] | undefined
  oneOf?: JsonSchema[] | undefined
  [keyword: string]: unknown
}

/**
 * Marks a schema in code that has no description yet. It must be replaced before the document is complete.
 */
export const UNDESCRIBED = Symbol('undescribed')

/** Order of keywords for readers. Annotations (`x-...`) come last. */
const KEYWORDS = [
  '$schema',
  '$id',
  '$ref',
  'title',
  'description',
  'type',
  'const',
  'enum',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'properties',
  'required',
  'propertyNames',
  'additionalProperties',
  'items',
  'anyOf',
  'oneOf',
  'default',
]

/** Keywords whose value is data, not a schema. */
const DATA = ['const', 'enum', 'default', 'required', 'type']

/**
 * Copies a schema with its keywords in reading order, and without those that have no effect (undefined
 * defaults, an empty `required`, property names that are any string).
 *
 * @throws Error if a schema in code has no description of its own (metadata `jsonSchema`)
 */
export function tidy(schema: JsonSchema): JsonSchema {
  if (UNDESCRIBED in schema) throw new Error('a custom schema needs metadata `jsonSchema`')
  const told = Object.entries(schema).filter(([keyword, value]) => says(keyword, value))
  const ordered = told.sort(([a], [b]) => place(a) - place(b) || (a < b ? -1 : 1))
  return Object.fromEntries(ordered.map(([keyword, value]) => [keyword, inside(keyword, value)]))
}

function says(keyword: string, value: unknown): boolean {
  if (value === undefined) return false
  if (keyword === 'required') return !Array.isArray(value) || value.length > 0
  if (keyword === 'propertyNames') return JSON.stringify(value) !== '{"type":"string"}'
  return true
}

function place(keyword: string): number {
  const index = KEYWORDS.indexOf(keyword)
  return index === -1 ? KEYWORDS.length : index
}

function inside(keyword: string, value: unknown): unknown {
  if (DATA.includes(keyword) || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one) => inside(keyword, one))
  if (keyword === 'properties') {
    const members = Object.entries(value).map(([name, one]) => [name, tidy(one)])
    return Object.fromEntries(members)
  }
  return tidy({ ...value })
}
