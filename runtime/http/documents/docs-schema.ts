/** JSON Schemas as nested tables for people. */
import { html } from 'hono/html'
import type { JsonSchema } from '../schemas/tidy.ts'

export type SchemaMarkup = ReturnType<typeof html>

/** Resolves references, and decides whether their target is shown in place or only linked to. */
export type References = {
  find(ref: string): JsonSchema | null
  inPlace(name: string): boolean
  /** Whether required members are marked. In answers every member is always present. */
  marksRequired: boolean
}

/** Maximum nesting of tables. Below it only the type is named. */
const MAX_DEPTH = 6

/** Returns the last part of a reference, which is its name. */
export const refName = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)

/** Renders a schema: its members as a table, or its type in one line. */
export function schemaMarkup(schema: JsonSchema, references: References, depth = 0): SchemaMarkup {
  const { target, members, choices } = opened(schema, references)
  if (depth > MAX_DEPTH) return html`<span class="type">${typeOf(schema)}</span>`
  if (members.length > 0) return table(target, members, references, depth)
  return html`${choices.map(
    (one) => html`<details>
      <summary>${typeOf(one)}</summary>
      ${schemaMarkup(one, references, depth + 1)}
    </details>`,
  )}`
}

type Member = [string, JsonSchema]

/**
 * Resolves references, arrays and maps of a schema, down to the members of its object or its alternatives.
 */
function opened(schema: JsonSchema, references: References) {
  const outer = targetOf(schema, references)
  const inner = outer.items ?? outer.additionalProperties
  const target = typeof inner === 'object' ? targetOf(inner, references) : outer
  return { target, members: membersOf(target), choices: choicesOf(target) }
}

/** Returns the schema itself or its target, or an empty schema if the target is only linked to. */
function targetOf(schema: JsonSchema, references: References): JsonSchema {
  const ref = refOf(schema)
  if (ref === null) return schema
  return (references.inPlace(refName(ref)) ? references.find(ref) : null) ?? {}
}

const membersOf = (schema: JsonSchema): Member[] => Object.entries(schema.properties ?? {})

/** Returns the alternatives of a union other than `null`, which is part of the type's name. */
function choicesOf(schema: JsonSchema): JsonSchema[] {
  const all = schema.anyOf ?? schema.oneOf ?? []
  return all.filter(({ type }) => type !== 'null')
}

function table(
  { required = [] }: JsonSchema,
  members: Member[],
  references: References,
  depth: number,
): SchemaMarkup {
  return html`<table>
    ${depth === 0 ? html`<thead><tr><th scope="col">Member</th><th scope="col">Type and meaning</th></tr></thead>` : ''}
    <tbody>${members.map(
      ([name, one]) => html`<tr>
        <td><code>${name}</code>${references.marksRequired && required.includes(name) ? html`<span class="required">required</span>` : ''}</td>
        <td class="member">${memberMarkup(one, references, depth)}</td>
      </tr>`,
    )}</tbody>
  </table>`
}

function memberMarkup(schema: JsonSchema, references: References, depth: number): SchemaMarkup {
  const ref = refOf(schema) ?? refOf(schema.items ?? {})
  const inner = opened(schema, references)
  const nested = depth < MAX_DEPTH && (inner.members.length > 0 || inner.choices.length > 1)
  const linked = ref !== null && !references.inPlace(refName(ref))
  const type = linked
    ? html`<a href="#schema-${refName(ref)}">${typeOf(schema)}</a>`
    : html`<span class="type">${typeOf(schema, references)}</span>`
  const note = schema['description'] ?? inner.target['description']
  return html`<div>${type}${schema['x-secret'] ? html` <span class="tag write">secret</span>` : ''}</div>
    ${note === undefined ? '' : html`<p class="note">${proseMarkup(note)}</p>`}
    ${
      nested
        ? html`<details><summary>${inner.members.length > 0 ? 'Members' : 'Forms'}</summary>${schemaMarkup(schema, references, depth + 1)}</details>`
        : ''
    }`
}

/** Renders text in which `backticks` mark code. */
export function proseMarkup(text: unknown): SchemaMarkup {
  const parts = String(text).split('`')
  const whole = parts.length % 2 === 1 ? parts : [String(text)]
  return html`${whole.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`
}

/** Returns the reference of a schema, also in `X or null` and in an array of X. */
function refOf(schema: JsonSchema): string | null {
  if (typeof schema['$ref'] === 'string') return schema['$ref']
  const choices = choicesOf(schema)
  return choices.length === 1 && choices[0] ? refOf(choices[0]) : null
}

/** Formats a type as text: `array of FoundAccountData`, `string or null`. */
function typeOf(schema: JsonSchema, references?: References): string {
  if (typeof schema['$ref'] === 'string') {
    const target = references?.find(schema['$ref'])
    return target && Array.isArray(target['enum']) ? typeOf(target) : refName(schema['$ref'])
  }
  if (Array.isArray(schema['enum'])) return schema['enum'].map(String).join(' | ')
  if (schema['const'] !== undefined) return JSON.stringify(schema['const'])
  const forms = schema.anyOf ?? schema.oneOf
  if (forms) return forms.map((one) => typeOf(one, references)).join(' or ')
  const types = [schema.type ?? 'any'].flat()
  const items = schema.items
  const values = schema.additionalProperties
  const named = types.map((type) => {
    if (type === 'array' && items) return `array of ${typeOf(items, references)}`
    if (type === 'object' && typeof values === 'object')
      return `map of ${typeOf(values, references)}`
    return type
  })
  const format = typeof schema['format'] === 'string' ? ` (${schema['format']})` : ''
  return named.join(' or ') + format
}
