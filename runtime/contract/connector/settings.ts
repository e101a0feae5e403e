/**
 * Settings of a tenant: a flat object of scalars that the manifest declares. This is the one schema that a
 * connector brings itself. `flatSchema` turns it into a valibot schema.
 */
import { RE2JS } from 're2js'
import * as v from 'valibot'
import { MAX_MATCHED_LENGTH, MAX_PATTERN_LENGTH, patternFault } from './pattern.ts'

/** Maximum length of a string setting, in characters; with a pattern it is MAX_MATCHED_LENGTH. */
export const MAX_SETTING_LENGTH = 8192

/** Maximum number of settings, and of fields of one request or response. */
const MAX_FIELDS = 100

/** Maximum number of values of an enum. */
const MAX_ENUM = 500

/** Returns the message for a list that is too long. */
export const atMost = (count: number): string => `at most ${count} are allowed`

/** Text for people. */
export const words = v.pipe(v.string(), v.maxLength(2000))

const common = {
  title: v.optional(words),
  help: v.optional(words),
  required: v.optional(v.boolean()),
}

const pattern = v.pipe(
  v.string(),
  v.maxLength(MAX_PATTERN_LENGTH),
  v.check(
    (text) => text.length > MAX_PATTERN_LENGTH || patternFault(text) === null,
    ({ input }) => patternFault(input) ?? '',
  ),
)

/** One declared setting, or a connector's own field of create_account or update_account. */
export const Field = v.variant('type', [
  v.strictObject({
    ...common,
    type: v.literal('string'),
    pattern: v.optional(pattern),
    format: v.optional(v.picklist(['url', 'hostname', 'email'])),
    enum: v.optional(
      v.pipe(v.array(words), v.minLength(1), v.maxLength(MAX_ENUM, atMost(MAX_ENUM))),
    ),
    default: v.optional(v.pipe(v.string(), v.maxLength(MAX_SETTING_LENGTH))),
    secret: v.optional(v.boolean()),
  }),
  v.strictObject({
    ...common,
    type: v.literal('integer'),
    min: v.optional(v.pipe(v.number(), v.safeInteger())),
    max: v.optional(v.pipe(v.number(), v.safeInteger())),
    default: v.optional(v.pipe(v.number(), v.safeInteger())),
  }),
  v.strictObject({ ...common, type: v.literal('boolean'), default: v.optional(v.boolean()) }),
])
export type Field = v.InferOutput<typeof Field>

/** Declared settings, by name. */
export const Fields = v.pipe(
  v.record(
    v.pipe(
      v.string(),
      v.regex(
        /^[a-z][a-z0-9_]{0,62}$/,
        'must look like `base_url`: lower case, digits, underscores',
      ),
    ),
    Field,
  ),
  v.maxEntries(MAX_FIELDS, atMost(MAX_FIELDS)),
)
export type Fields = v.InferOutput<typeof Fields>

/** A host name in a setting: labels, no port, no user, no trailing dot. */
export const HOSTNAME =
  /^(?=.{1,253}$)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/

/**
 * Returns the schema of an object with these fields. Unknown members are dropped, `null` means absent,
 * defaults are filled in.
 */
export function flatSchema(fields: Fields) {
  return v.object(
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)])),
  )
}

/**
 * Returns the schema of a string setting. It keeps its compiled pattern, so make a schema once per version,
 * not per call. The default is not matched against the pattern again: that was done when the manifest was
 * checked.
 */
function stringSchema(field: Extract<Field, { type: 'string' }>) {
  const { pattern, format } = field
  const re2 = pattern === undefined ? null : RE2JS.compile(pattern)
  const matches = (text: string): boolean =>
    re2 === null || text === field.default || text.length > MAX_MATCHED_LENGTH || re2.matches(text)
  return v.pipe(
    v.string(),
    re2 === null
      ? v.maxLength(MAX_SETTING_LENGTH)
      : v.maxLength(
          MAX_MATCHED_LENGTH,
          `is too long: at most ${MAX_MATCHED_LENGTH} characters where there is a pattern`,
        ),
    v.check(
      (text) => field.enum === undefined || field.enum.includes(text),
      () => `must be one of ${field.enum?.map((one) => JSON.stringify(one)).join(', ')}`,
    ),
    v.check(matches, `does not match ${pattern}`),
    v.check(
      (text) => format === undefined || FORMATS[format](text),
      format === 'url' ? 'is not a url of http or https' : `is not a ${format}`,
    ),
  )
}

const FORMATS = {
  url: isBaseUrl,
  hostname: (text: string) => HOSTNAME.test(text),
  email: (text: string) => /^[^\s@]{1,200}@[^\s@]{1,250}$/.test(text),
} as const

function fieldSchema(field: Field) {
  const inner: v.GenericSchema<string | number | boolean> =
    field.type === 'string'
      ? stringSchema(field)
      : field.type === 'boolean'
        ? v.boolean()
        : v.pipe(
            v.number(),
            v.safeInteger(),
            v.minValue(field.min ?? Number.MIN_SAFE_INTEGER),
            v.maxValue(field.max ?? Number.MAX_SAFE_INTEGER),
          )
  const described = v.pipe(inner, v.metadata({ field }))
  if (field.default !== undefined) return v.nullish(described, field.default)
  return field.required === true ? described : v.nullish(described, () => undefined)
}

/**
 * Reports whether a text is a base URL: http or https, no user info, no query, no fragment, no control
 * characters.
 */
function isBaseUrl(text: string): boolean {
  // The parser silently drops tabs and newlines. The value used must be the value that the operator reads.
  if (/[\s\\@?#\u0000-\u001f]/.test(text) || !/^https?:\/\/[^/]/i.test(text)) return false
  return URL.canParse(text)
}
