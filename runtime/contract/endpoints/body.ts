/**
 * Bodies of the core interface. valibot validates them, and its issues are mapped to the types and messages
 * of the public service's 422 entries (core-interface.md section 3).
 */
import * as v from 'valibot'
import { describeIssue, parseOptionsFor } from '../connector/payload.ts'
import type { ValidationEntry } from '../errors/problem.ts'
import { MAX_DEPTH } from '../schema/depth.ts'
import { jsonFaultOf } from '../schema/json-text.ts'
import { misplacedArrays } from '../schema/misplaced-arrays.ts'
import { placeAt } from '../schema/place.ts'
import { isRecord, membersOf } from '../schema/record.ts'
import type { AnySchema } from '../schema/shape.ts'
import { limitValues, notUtf8At } from './body-bytes.ts'
import { enumWords } from './params.ts'

const entry = (type: string, msg: string) => ({ type, msg })

const NOT_AN_OBJECT = [
  'model_attributes_type',
  'Input should be a valid dictionary or object to extract fields from',
] as const

const NOT_A_RECORD = entry('dict_type', 'Input should be a valid dictionary')

type Issue = v.BaseIssue<unknown>
type ToMessage = (issue: Issue) => { type: string; msg: string }

const plural = (count: unknown, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

function requirementOf(issue: Issue): string[] | null {
  const { requirement } = membersOf(issue)
  return Array.isArray(requirement) ? requirement : null
}

/** Type and message of an entry, by valibot's type of issue. Types without a row become `value_error`. */
const MESSAGES: Record<string, ToMessage> = {
  string: () => entry('string_type', 'Input should be a valid string'),
  number: () => entry('int_type', 'Input should be a valid integer'),
  integer: () =>
    entry('int_from_float', 'Input should be a valid integer, got a number with a fractional part'),
  boolean: () => entry('bool_type', 'Input should be a valid boolean'),
  array: () => entry('list_type', 'Input should be a valid list'),
  record: () => NOT_A_RECORD,
  custom: () => NOT_A_RECORD,
  picklist: (issue) => entry('enum', enumWords(requirementOf(issue) ?? optionsOf(issue))),
  min_length: (issue) =>
    Array.isArray(issue.input)
      ? entry(
          'too_short',
          `List should have at least ${plural(issue.requirement, 'item')} after validation, not ${issue.input.length}`,
        )
      : entry(
          'string_too_short',
          `String should have at least ${plural(issue.requirement, 'character')}`,
        ),
  max_length: (issue) =>
    Array.isArray(issue.input)
      ? entry(
          'too_long',
          `List should have at most ${plural(issue.requirement, 'item')} after validation, not ${issue.input.length}`,
        )
      : entry(
          'string_too_long',
          `String should have at most ${plural(issue.requirement, 'character')}`,
        ),
  min_value: ({ requirement }) =>
    entry('greater_than_equal', `Input should be greater than or equal to ${requirement}`),
  max_value: ({ requirement }) =>
    entry('less_than_equal', `Input should be less than or equal to ${requirement}`),
}

function optionsOf({ expected }: Issue): string[] {
  return (expected ?? '')
    .replace(/[()]/g, '')
    .split(' | ')
    .map((one) => one.replace(/^"|"$/g, ''))
}

/** Returns one issue of valibot as an entry. */
function toEntry(issue: Issue): ValidationEntry {
  const loc = [
    'body',
    ...(issue.path ?? []).map(({ key }) => (typeof key === 'number' ? key : String(key))),
  ]
  const object = issue.type === 'object' || issue.type === 'strict_object'
  if (issue.type === 'strict_object' && issue.expected === 'never')
    return { loc, ...entry('extra_forbidden', 'Extra inputs are not permitted') }
  if (object && issue.received === 'undefined')
    return { loc, ...entry('missing', 'Field required') }
  if (object)
    return {
      loc,
      ...entry(
        'model_attributes_type',
        'Input should be a valid dictionary or object to extract fields from',
      ),
    }
  const toMessage = MESSAGES[issue.type]
  if (toMessage) return { loc, ...toMessage(issue) }
  // Without the path, which is in `loc`, and without the value, which may be a secret.
  const { path: _, ...pathless } = issue
  const found = describeIssue(pathless, '', () => true)
  return { loc, ...entry('value_error', `Value error, ${found}`) }
}

/**
 * Parses a body's text.
 *
 * @param isJson Whether it was sent as JSON. Other bodies get the public service's error for them.
 */
export function parseBodyText(schema: AnySchema, text: string, isJson: boolean): ParsedBody {
  const failed = (...entries: ValidationEntry[]) => ({ ok: false as const, entries })
  if (text.trim() === '') return failed({ loc: ['body'], ...entry('missing', 'Field required') })
  let value: unknown = text
  if (isJson) {
    try {
      value = JSON.parse(text)
    } catch (error) {
      return failed(notJsonAt(jsonFaultOf(error) ?? text.length))
    }
  }
  const deep = findDeep(value)
  if (deep) return failed({ loc: ['body', ...deep], ...entry('value_error', TOO_DEEP) })
  const odd = findUnstorable(value)
  if (odd)
    return failed({
      loc: ['body', ...odd],
      ...entry('value_error', ODD_TEXT),
    })
  // valibot accepts an array as an object without members.
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return failed({ loc: ['body'], ...entry(...NOT_AN_OBJECT) })
  }
  const arrays = misplacedArrays(schema, value).slice(0, 100)
  if (arrays.length > 0)
    return failed(
      ...arrays.map(({ path, expected }) => ({
        loc: ['body', ...path],
        ...(expected === 'record' ? NOT_A_RECORD : entry(...NOT_AN_OBJECT)),
      })),
    )
  const parsed = v.safeParse(schema, value, parseOptionsFor(text.length))
  return parsed.success
    ? { ok: true, value: parsed.output }
    : failed(...parsed.issues.slice(0, 100).map(toEntry))
}

export type ParsedBody = { ok: true; value: unknown } | { ok: false; entries: ValidationEntry[] }

/**
 * Parses the bytes of a body.
 *
 * @throws body_too_large
 */
export function parseBodyBytes(
  schema: AnySchema,
  bytes: Uint8Array,
  isJson: boolean,
  maxMarks: number,
): ParsedBody {
  if (!limitValues(bytes, maxMarks)) return { ok: false, entries: [nestedTooDeep()] }
  const at = notUtf8At(bytes)
  if (at !== null) return { ok: false, entries: [notJsonAt(at)] }
  return parseBodyText(schema, new TextDecoder().decode(bytes), isJson)
}

/** Returns the entry for a body that stops being JSON at this character. */
const notJsonAt = (offset: number): ValidationEntry => ({
  loc: ['body', offset],
  ...entry('json_invalid', 'JSON decode error'),
})

/** Returns the entry for a body nested too deeply to name the place. */
const nestedTooDeep = (): ValidationEntry => ({
  loc: ['body'],
  ...entry('value_error', TOO_DEEP),
})

const TOO_DEEP = `Value error, lists and objects may be nested ${MAX_DEPTH} deep`

const ODD_TEXT = 'Value error, text must not contain the character NUL or half of a surrogate pair'

/** Returns where and why a value cannot be stored unchanged, as text, or null if it can. */
export function storageFault(value: unknown): string | null {
  const deep = findDeep(value)
  if (deep) return `${placeAt(deep)}: ${TOO_DEEP}`
  const odd = findUnstorable(value)
  // A text that is the whole value has no place.
  return odd && (odd.length === 0 ? ODD_TEXT : `${placeAt(odd)}: ${ODD_TEXT}`)
}

/**
 * Returns the top-level member that is nested too deeply, or null. Its full path would be as long as it is
 * deep.
 */
function findDeep(value: unknown): (string | number)[] | null {
  const isDeep = (one: unknown, depth: number): boolean =>
    typeof one === 'object' &&
    one !== null &&
    (depth > MAX_DEPTH || Object.values(one).some((inner) => isDeep(inner, depth + 1)))
  if (typeof value !== 'object' || value === null) return null
  const found = Object.entries(value).find(([, one]) => isDeep(one, 2))
  return found ? [Array.isArray(value) ? Number(found[0]) : found[0]] : null
}

/**
 * Returns the path of the first string or key that cannot be stored unchanged: PostgreSQL does not store NUL,
 * and half a surrogate pair (`"\ud800"`) becomes another character in UTF-8. The depth was checked before.
 */
function findUnstorable(value: unknown): (string | number)[] | null {
  if (typeof value === 'string') return isStorable(value) ? null : []
  if (!isRecord(value)) return null
  const isList = Array.isArray(value)
  for (const key of Object.keys(value)) {
    if (!isList && !isStorable(key)) return []
    const found = findUnstorable(value[key])
    // The path is built on the way out: for most values there is none.
    if (found) return [isList ? Number(key) : key, ...found]
  }
  return null
}

const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed()
