/**
 * The only conversion from the contract's schemas to JSON Schema (2020-12, as in OpenAPI 3.1). What cannot be
 * expressed throws; nothing is left out silently. It knows neither HTTP nor connectors.
 */
import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema'
import type { Field } from '../../contract/connector/settings.ts'
import { membersOf } from '../../contract/schema/record.ts'
import type { AnySchema } from '../../contract/schema/shape.ts'
import { fieldSchema } from './field-schema.ts'
import { type JsonSchema, tidy, UNDESCRIBED } from './tidy.ts'

/** Side of a schema: accepted input (`input`), or the answer (`output`). */
type Mode = 'input' | 'output'

/** Named schemas of one document, collected while it is written. */
export type Components = {
  /** Converts a schema. Titled objects and enumerations in it become references. */
  schema: (schema: AnySchema, mode: Mode) => JsonSchema
  /** Returns all referenced schemas by name, in alphabetical order. */
  all: () => Record<string, JsonSchema>
}

/** Converts a schema to a JSON Schema without references. */
export function toSchema(schema: AnySchema, mode: Mode): JsonSchema {
  return convert(schema, mode, {}).root
}

/**
 * Creates a collection of named schemas.
 *
 * @throws Error if two different schemas have one title
 */
export function createComponents(): Components {
  const collected = new Map<string, JsonSchema>()
  return {
    schema(schema, mode) {
      const { root, named } = convert(schema, mode, titledIn(schema))
      for (const [name, one] of Object.entries(named)) {
        const known = collected.get(name)
        if (known && JSON.stringify(known) !== JSON.stringify(one))
          throw new Error(`two different schemas are called ${name}`)
        collected.set(name, one)
      }
      return root
    },
    all: () => Object.fromEntries([...collected].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** Titles that are names. Others (`Access token`) are for people. */
const COMPONENT_NAME = /^[A-Z][A-Za-z0-9]*$/

/** The used part of valibot's internal schema structure. */
type Inside = AnySchema & {
  pipe?: { kind: string; type: string; metadata?: Record<string, unknown> }[]
  entries?: Record<string, Inside>
  options?: readonly (Inside | string)[]
  item?: Inside
  wrapped?: Inside
  value?: Inside
  literal?: unknown
  default?: unknown
}

/** Returns every object and enumeration in a schema whose title is a name such as `FoundAccountData`. */
function titledIn(schema: AnySchema, found: Record<string, AnySchema> = {}) {
  const inside: Inside = schema
  const title = inside.pipe?.findLast((one) => one.metadata?.['title'])?.metadata?.['title']
  const nameable = inside.entries !== undefined || inside.type === 'picklist'
  if (nameable && typeof title === 'string' && COMPONENT_NAME.test(title)) {
    if (found[title] === schema) return found
    if (found[title]) throw new Error(`two different schemas are called ${title}`)
    found[title] = schema
  }
  const { entries = {}, options = [], item, wrapped, value } = inside
  const children = [...Object.values(entries), ...options, item, wrapped, value]
  for (const child of children) if (typeof child === 'object') titledIn(child, found)
  return found
}

function convert(schema: AnySchema, mode: Mode, definitions: Record<string, AnySchema>) {
  const { $schema, $defs, ...root } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode: mode,
    errorMode: 'throw',
    definitions,
    // Rules between members, and rules in code, have no JSON Schema. Their messages inform callers.
    ignoreActions: ['check', 'raw_check'],
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    overrideSchema: (context) => asConverted(overrideSchema(context, mode)),
    overrideAction: (context) => asConverted(overrideAction(context)),
  })
  const named = Object.entries($defs ?? {}).map(([name, one]) => [name, tidy(plain(one))] as const)
  return { root: tidy(plain(root)), named: Object.fromEntries(named) }
}

/** The cast: the converter's type of a JSON Schema has fewer keywords than the standard. */
const asConverted = (schema: JsonSchema | null | undefined) => schema as Converted

type SchemaContext = Parameters<NonNullable<ConversionConfig['overrideSchema']>>[0]
type ActionContext = Parameters<NonNullable<ConversionConfig['overrideAction']>>[0]
/** Copies a schema that the converter made. */
const plain = (schema: unknown): JsonSchema => ({ ...membersOf(schema) })

type Converted = ReturnType<NonNullable<ConversionConfig['overrideSchema']>>

function overrideSchema(context: SchemaContext, mode: Mode): JsonSchema | null {
  const schema: Inside = context.valibotSchema
  const json = plain(context.jsonSchema)
  if (schema.entries) {
    const required = Object.entries(schema.entries).filter(([, one]) => isRequired(one, mode))
    return { ...json, required: required.map(([name]) => name) }
  }
  if (schema.type === 'nullish' || schema.type === 'nullable') return nullableOf(json)
  if (schema.type === 'literal') return { ...json, type: typeof schema.literal }
  if (schema.type === 'custom') return { ...json, [UNDESCRIBED]: true }
  return null
}

/**
 * Reports whether a member is required. Members with a default are always in the output, but the converter's
 * own output mode omits them from `required`.
 */
function isRequired(entry: Inside, mode: Mode): boolean {
  if (!['nullish', 'optional', 'exact_optional'].includes(entry.type)) return true
  const { default: value } = entry
  return mode === 'output' && (typeof value === 'function' ? value() : value) !== undefined
}

/** Writes `{ type: 'string' }` or null as `{ type: ['string', 'null'] }` if this short form is possible. */
function nullableOf(json: JsonSchema): JsonSchema {
  const [inner = {}] = json.anyOf ?? []
  if (typeof inner.type !== 'string' || inner['const'] !== undefined) return json
  const { anyOf, ...rest } = json
  const { enum: values } = inner
  return {
    ...rest,
    ...inner,
    type: [inner.type, 'null'],
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  }
}

/** Metadata of the contract -> member of the JSON Schema; `null` is not exported. */
const ANNOTATIONS: Record<string, string | null> = {
  title: 'title',
  description: 'description',
  semantic: 'x-semantic',
  secret: 'x-secret',
  fieldType: 'x-field_type',
  nature: null,
  clearMembers: null,
}

function overrideAction({ valibotAction, jsonSchema }: ActionContext): JsonSchema | null {
  const { type, metadata }: { type: string; metadata?: Record<string, unknown> } = valibotAction
  // The bounds of JavaScript's integers are not bounds of the value. The wire type is int64.
  if (type === 'safe_integer') {
    const { minimum, maximum, ...rest } = plain(jsonSchema)
    return {
      ...rest,
      format: 'int64',
      ...(minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
      ...(maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
    }
  }
  if (type !== 'metadata' || !metadata) return null
  const { jsonSchema: literal, field, ...notes } = metadata
  const base: JsonSchema & { [UNDESCRIBED]?: unknown } = plain(jsonSchema)
  for (const name of Object.keys(metadata)) delete base[name]
  if (literal || field) delete base[UNDESCRIBED]
  for (const [name, value] of Object.entries(notes)) {
    const annotation = ANNOTATIONS[name]
    if (annotation === undefined) throw new Error(`metadata ${name} has no place in JSON Schema`)
    if (annotation !== null) base[annotation] = value
  }
  // The cast: only `fieldSchema` of contract/connector/settings.ts writes this member.
  if (field) return fieldSchema(field as Field)
  return { ...base, ...membersOf(literal) }
}
