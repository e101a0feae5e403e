/** JSON Schemas of connector.json and connector.cases.json, for editors: `GET /schemas/connector.json`. */
import { CAPABILITY_NAMES } from '../../contract/capabilities/capabilities.ts'
import { CaseFile } from '../../contract/connector/cases.ts'
import { Manifest } from '../../contract/connector/manifest.ts'
import { toSchema } from '../schemas/json-schema.ts'
import { type JsonSchema, tidy } from '../schemas/tidy.ts'
import { CASE_FIELDS } from './case-fields.ts'
import { MANIFEST_FIELDS } from './manifest-fields.ts'

/** Creates the JSON Schema of connector.json, with a description on every field that has one. */
export function manifestJsonSchema(): JsonSchema {
  const shape = describe(toSchema(Manifest, 'input'), '', manifestWords)
  const { properties = {} } = shape
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

/** Returns the text for the field at a path. */
type Words = (path: string) => string | undefined

/** Paths that share their texts with others: fields of a capability are declared like settings. */
const SAME_WORDS: readonly (readonly [at: RegExp, as: string])[] = [
  [/^capabilities\.\*\.(?:request|response)_fields\.\*/, 'settings.*'],
  [/^capabilities\.\*\.egress\./, 'egress.'],
  [/^credentials\.oauth\./, 'oauth.'],
  [/^credentials\.fields\./, 'authentication_schema.fields.'],
]

const wordsIn = (words: Readonly<Record<string, string>>, name: string): string | undefined =>
  words[name]

const manifestWords: Words = (path) =>
  wordsIn(
    MANIFEST_FIELDS,
    SAME_WORDS.reduce((name, [at, as]) => name.replace(at, as), path),
  )

/**
 * Texts of connector.cases.json. A page has the fields of a case with one page, and a shared exchange those
 * of an exchange in a case.
 */
const caseWords: Words = (path) => wordsIn(CASE_FIELDS, casePath(path))

/** Returns the key in `CASE_FIELDS` of a field of connector.cases.json. */
export const casePath = (path: string): string =>
  path
    .replace(/^cases\./, '')
    .replace(/^pages\./, '')
    .replace(/^exchanges\.\*\./, 'upstream.')

/** Adds texts to a schema and everything in it. `path` is its position. */
function describe(schema: JsonSchema, path: string, words: Words): JsonSchema {
  const { properties, additionalProperties, items, anyOf, oneOf, ...rest } = schema
  const description = words(path)
  const below = (name: string) => (path === '' ? name : `${path}.${name}`)
  const choices = (all: JsonSchema[]) => all.map((one) => inside(one, path, words))
  return {
    ...rest,
    ...(description === undefined ? {} : { description }),
    ...(properties === undefined ? {} : { properties: members(properties, below, words) }),
    ...(isSchema(additionalProperties)
      ? { additionalProperties: describe(additionalProperties, below('*'), words) }
      : { additionalProperties }),
    ...(isSchema(items) ? { items: inside(items, path, words) } : {}),
    ...(anyOf === undefined ? {} : { anyOf: choices(anyOf) }),
    ...(oneOf === undefined ? {} : { oneOf: choices(oneOf) }),
  }
}

/**
 * Adds texts to a schema at the same path as its parent (items of an array, one of several alternatives),
 * which has no text of its own.
 */
function inside(schema: JsonSchema, path: string, words: Words): JsonSchema {
  const { description, ...rest } = describe(schema, path, words)
  return tidy(rest)
}

function members(
  properties: Record<string, JsonSchema>,
  below: (name: string) => string,
  words: Words,
) {
  const all = Object.entries(properties)
  return Object.fromEntries(all.map(([name, one]) => [name, describe(one, below(name), words)]))
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null
}

/** Creates the JSON Schema of connector.cases.json: `GET /schemas/connector.cases.json`. */
export function casesJsonSchema(): JsonSchema {
  return tidy({
    ...describe(toSchema(CaseFile, 'input'), '', caseWords),
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'connector.cases.json',
    description: 'What a connector asks of its system and what it answers, case by case',
  })
}
