/** The JSON Schema of connector.json, for editors: `GET /schemas/connector.json`. */
import { CAPABILITY_NAMES } from '../../contract/capabilities.ts'
import { Cases } from '../../contract/cases.ts'
import { Manifest } from '../../contract/manifest.ts'
import { toSchema } from './json-schema.ts'
import { MANIFEST_FIELDS } from './manifest-fields.ts'
import { type JsonSchema, tidy } from './tidy.ts'

/** The schema, with a description on every field that has one. */
export function manifestJsonSchema(): JsonSchema {
  const shape = describe(toSchema(Manifest, 'input'), '')
  const properties = shape['properties'] as Record<string, JsonSchema>
  const capabilities = {
    ...properties['capabilities'],
    propertyNames: { enum: CAPABILITY_NAMES },
  }
  return tidy({
    ...shape,
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'connector.json',
    description: 'What a connector is, readable without running any of its code',
    properties: { ...properties, capabilities },
  })
}

/** Puts the words of MANIFEST_FIELDS on a schema and on everything in it; `path` is where it stands. */
function describe(schema: JsonSchema, path: string): JsonSchema {
  const { properties, additionalProperties, items, anyOf, oneOf, ...rest } = schema
  const description = (MANIFEST_FIELDS as Record<string, string>)[path]
  const below = (name: string) => (path === '' ? name : `${path}.${name}`)
  const choices = (all: unknown) => (all as JsonSchema[]).map((one) => inside(one, path))
  return {
    ...rest,
    ...(description === undefined ? {} : { description }),
    ...(properties === undefined ? {} : { properties: members(properties, below) }),
    ...(isSchema(additionalProperties)
      ? { additionalProperties: describe(additionalProperties, below('*')) }
      : { additionalProperties }),
    ...(isSchema(items) ? { items: inside(items, path) } : {}),
    ...(anyOf === undefined ? {} : { anyOf: choices(anyOf) }),
    ...(oneOf === undefined ? {} : { oneOf: choices(oneOf) }),
  }
}

/** What stands at the same path (an array's items, one of several forms): no words of its own. */
function inside(schema: JsonSchema, path: string): JsonSchema {
  const { description, ...rest } = describe(schema, path)
  return tidy(rest)
}

function members(properties: unknown, below: (name: string) => string) {
  const all = Object.entries(properties as Record<string, JsonSchema>)
  return Object.fromEntries(all.map(([name, one]) => [name, describe(one, below(name))]))
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null
}

/** The JSON Schema of connector.cases.json: `GET /schemas/connector.cases.json`. */
export function casesJsonSchema(): JsonSchema {
  return tidy({
    ...toSchema(Cases, 'input'),
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'connector.cases.json',
    description: 'What a connector asks of its system and what it answers, case by case',
  })
}
