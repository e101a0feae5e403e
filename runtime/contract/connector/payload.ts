/** The schemas of one connector's payloads: the capability's own, widened where a connector may. */
import * as v from 'valibot'
import { CAPABILITIES, type CapabilityName } from '../capabilities/capabilities.ts'
import { nearest } from '../errors/nearest.ts'
import { fieldsAt } from '../schema/fields-at.ts'
import { placeOfIssue } from '../schema/place.ts'
import type { AnySchema } from '../schema/shape.ts'
import { schemaEntries } from '../schema/shape.ts'
import { type Fields, flatSchema } from './settings.ts'

/** The schema of `request`: fields of the connector's own join the standard ones, never replace them. */
export function requestSchema(name: CapabilityName, extra: Fields = {}): AnySchema {
  const { input } = CAPABILITIES[name]
  if (Object.keys(extra).length === 0) return input
  const own = flatSchema(extra).entries
  return v.object({ ...own, ...schemaEntries(input) })
}

/** The schema of `response`; strict, so that drift is seen on day one. */
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
 * The fields by which a capability's response is widened: for update_account also those of its request, whose shape
 * it has (connector-interface.md section 1.6). Not its secrets, which no answer repeats.
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

/** Names of the fields of a capability's standard request and response, which no extra may take. */
export function standardFields(name: CapabilityName): Set<string> {
  const { input, output } = CAPABILITIES[name]
  return new Set([input, output].flatMap((schema) => Object.keys(schemaEntries(schema))))
}

/** Whether the value below these keys may not be repeated, because it is secret. */
export type IsQuiet = (keys: readonly unknown[]) => boolean

/** Longest path, and longest text about it, in characters. */
const MAX_PATH = 200
const MAX_WORDING = 300

/**
 * One finding: where, and what is wrong there.
 *
 * @param schema What was broken: of a member that it does not have, the one that was meant is named.
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

/** Most findings that are told, and most that are compared: what was sent is wrong in fifty thousand places at worst. */
const MAX_FINDINGS = 10
const MAX_COMPARED = 500

/**
 * Findings as one sentence: `page.size: Expected >=1 but received 0; ...`, the first ten of them. What is wrong alike in
 * several items of a list is told once: a name that is misspelt in each row would hide everything else.
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

/** The same for what is wrong alike in several items of a list. */
const kindOfIssue = ({ path, type, expected }: v.BaseIssue<unknown>): string =>
  JSON.stringify([
    path?.map(({ type: at, key }) => (at === 'array' ? '' : String(key).slice(0, MAX_PATH))),
    type,
    expected,
  ])

/** Longest text of which every finding is looked for, in characters: 10,000 findings at worst, 5 µs and more for each. */
const MAX_THOROUGH_LENGTH = 20_000

/** Of a large text only the first finding: those of 100,000 characters hold the main thread for 150 to 280 ms. */
export const thoroughness = (textLength: number) => ({
  abortEarly: textLength > MAX_THOROUGH_LENGTH,
})

/** Longest value that a finding repeats, in characters. */
const MAX_FOUND = 120

/** In people's words: valibot says "Invalid key: Expected "x" but received undefined" where they say "missing". */
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
  // What valibot words itself may end in the value: `Invalid email: Received "..."`.
  const repeats = /received/i.test(message)
  if (!quiet) return repeats ? message : `${message} (found ${received})`
  if (!repeats) return message
  return expected === null ? message.replace(/: Received .*$/s, '') : `Expected ${expected}`
}

/** How valibot words a value of another type, alone or after words of ours. */
const OF_TYPE = /^(?:Invalid type: )?Expected .* but received /s

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  Array: 'an array',
  Object: 'an object',
}

/** What valibot expects, as one writes it: `string`, or `("a" | "b")`; a union of unions has more brackets. */
function wanted(expected: string): string {
  if (!expected.startsWith('(')) return TYPES[expected] ?? expected
  const choices = expected.split(' | ').map((one) => one.replace(/^\(+|\)+$/g, ''))
  const all = choices.map((one) => TYPES[one] ?? one)
  return choices.every((one) => one.startsWith('"')) ? `one of ${all.join(', ')}` : all.join(' or ')
}
