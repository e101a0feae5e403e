/**
 * Schemas of one connector's payloads: those of the capability, extended where a connector may add fields.
 */
import * as v from 'valibot'
import { CAPABILITIES, type CapabilityName } from '../capabilities/capabilities.ts'
import { nearest } from '../errors/nearest.ts'
import { fieldsAt } from '../schema/fields-at.ts'
import { placeOfIssue } from '../schema/place.ts'
import type { AnySchema } from '../schema/shape.ts'
import { schemaEntries } from '../schema/shape.ts'
import { type Fields, flatSchema } from './settings.ts'

/** Returns the schema of `request`: the standard fields, and the connector's own, which never replace one. */
export function requestSchema(name: CapabilityName, extra: Fields = {}): AnySchema {
  const { input } = CAPABILITIES[name]
  if (Object.keys(extra).length === 0) return input
  const own = flatSchema(extra).entries
  return v.object({ ...own, ...schemaEntries(input) })
}

/** Returns the schema of `response`. It is strict, so that drift is noticed on day one. */
export function responseSchema(name: CapabilityName, extra: Fields = {}): AnySchema {
  const { output } = CAPABILITIES[name]
  if (Object.keys(extra).length === 0) return output
  const own = Object.fromEntries(
    Object.entries(flatSchema(extra).entries).map(([key, schema]) => [
      key,
      v.nullish(schema, null),
    ]),
  )
  return v.strictObject({ ...own, ...schemaEntries(output) })
}

/**
 * Returns the fields that extend a capability's response. For update_account these include the fields of its
 * request, whose shape it has (connector-interface.md section 1.6), except secrets, which no response
 * repeats.
 */
export function answerFields(
  name: string,
  { request_fields = {}, response_fields = {} }: Declared = {},
): Fields {
  if (name !== 'update_account') return response_fields
  const asked = Object.entries(request_fields).filter(
    ([, field]) => !('secret' in field && field.secret === true),
  )
  return { ...Object.fromEntries(asked), ...response_fields }
}

type Declared = { request_fields?: Fields | undefined; response_fields?: Fields | undefined }

/**
 * Returns the names of a capability's standard fields in request and response, which no additional field may
 * take.
 */
export function standardFields(name: CapabilityName): Set<string> {
  const { input, output } = CAPABILITIES[name]
  return new Set([input, output].flatMap((schema) => Object.keys(schemaEntries(schema))))
}

/** Reports whether the value at these keys is secret and must not be repeated. */
export type IsQuiet = (keys: readonly unknown[]) => boolean

/** Maximum length of a path, and of the text about it, in characters. */
const MAX_PATH = 200
const MAX_WORDING = 300

/**
 * Describes one finding: its place and what is wrong there.
 *
 * @param schema The violated schema. For an unknown member, the nearest name in it is suggested.
 */
export function describeIssue(
  issue: v.BaseIssue<unknown>,
  prefix = '',
  isQuiet: IsQuiet = () => false,
  schema: AnySchema | null = null,
): string {
  const place = placeOfIssue(issue)
  const path = prefix + (prefix === '' || place === '' || place.startsWith('[') ? '' : '.') + place
  const quiet = isQuiet((issue.path ?? []).map(({ key }) => key))
  const near = isUnknownMember(issue) && schema !== null ? meantBy(issue, schema) : null
  const perhaps = near === null ? '' : `; did you mean ${near}?`
  const text = wording(issue, quiet).slice(0, MAX_WORDING) + perhaps
  return path === '' ? text : `${path.slice(0, MAX_PATH)}: ${text}`
}

const isUnknownMember = ({ type, expected }: v.BaseIssue<unknown>): boolean =>
  type === 'strict_object' && expected === 'never'

function meantBy({ path }: v.BaseIssue<unknown>, schema: AnySchema): string | null {
  return nearest(String(path?.at(-1)?.key), fieldsAt(schema, path?.slice(0, -1) ?? []))
}

/**
 * Maximum number of findings that are reported, and that are compared. At worst, input is wrong in fifty
 * thousand places.
 */
const MAX_FINDINGS = 10
const MAX_COMPARED = 500

/**
 * Joins findings into one sentence, `page.size: Expected >=1 but received 0; ...`, up to the first ten. The
 * same finding in several items of a list is reported once. Otherwise a name misspelt in each row would hide
 * everything else.
 */
export function describeIssues(
  issues: readonly v.BaseIssue<unknown>[],
  prefix = '',
  isQuiet?: IsQuiet,
  schema: AnySchema | null = null,
): string {
  const alike = [...Map.groupBy(issues.slice(0, MAX_COMPARED), kindOfIssue).values()]
  const lines = alike.slice(0, MAX_FINDINGS).flatMap(([first, ...others]) => {
    if (first === undefined) return []
    const line = describeIssue(first, prefix, isQuiet, schema)
    return [others.length === 0 ? line : `${line} (and ${others.length} more like it)`]
  })
  const rest = Math.max(0, alike.length - MAX_FINDINGS) + Math.max(0, issues.length - MAX_COMPARED)
  return lines.join('; ') + (rest > 0 ? `; and ${rest} more` : '')
}

/** Returns a key that is the same for the same finding in several items of a list. */
const kindOfIssue = ({ path, type, expected }: v.BaseIssue<unknown>): string =>
  JSON.stringify([
    path?.map(({ type: at, key }) => (at === 'array' ? '' : String(key).slice(0, MAX_PATH))),
    type,
    expected,
  ])

/**
 * Maximum length of a text that is searched for every finding, in characters: at worst 10,000 findings, at 5
 * µs or more each.
 */
const MAX_THOROUGH_LENGTH = 20_000

/**
 * Returns the parse options for a text of this length. A larger text is searched for its first finding only:
 * finding all in 100,000 characters blocks the main thread for 150 to 280 ms.
 */
export const parseOptionsFor = (textLength: number) => ({
  abortEarly: textLength > MAX_THOROUGH_LENGTH,
})

/** Maximum length of a value that a finding repeats, in characters. */
const MAX_FOUND = 120

/**
 * Returns a finding in plain words. For a missing member, valibot writes `Invalid key: Expected "x" but
 * received undefined`.
 */
function wording(
  { kind, type, expected, received, message }: v.BaseIssue<unknown>,
  quiet: boolean,
): string {
  const ofObject = type === 'object' || type === 'strict_object'
  if (ofObject && received === 'undefined')
    return message.startsWith('missing') ? message : 'missing'
  if (type === 'strict_object' && expected === 'never') return 'there is no such field'
  if (kind === 'schema' && expected !== null && OF_TYPE.test(message)) {
    if (quiet) return `expected ${wanted(expected)}`
    const what = `write ${wanted(expected)}`
    return received === 'undefined'
      ? `missing: ${what}`
      : `${what} (found ${received.slice(0, MAX_FOUND)})`
  }
  // A message of valibot's own may end in the value: `Invalid email: Received "..."`.
  const repeats = /received/i.test(message)
  if (!quiet) return repeats ? message : `${message} (found ${received})`
  if (!repeats) return message
  return expected === null ? message.replace(/: Received .*$/s, '') : `Expected ${expected}`
}

/** valibot's message for a value of another type, alone or after a message of ours. */
const OF_TYPE = /^(?:Invalid type: )?Expected .* but received /s

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  Array: 'an array',
  Object: 'an object',
}

/**
 * Returns valibot's expectation in plain words. It is `string` or `("a" | "b")`; a union of unions has more
 * brackets.
 */
function wanted(expected: string): string {
  if (!expected.startsWith('(')) return TYPES[expected] ?? expected
  const choices = expected.split(' | ').map((one) => one.replace(/^\(+|\)+$/g, ''))
  const all = choices.map((one) => TYPES[one] ?? one)
  return choices.every((one) => one.startsWith('"')) ? `one of ${all.join(', ')}` : all.join(' or ')
}
