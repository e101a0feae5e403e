/**
 * What a tenant configures: a flat object of scalars that the manifest declares. This is the one
 * schema that a connector brings itself; `flatSchema` turns it into a valibot schema.
 */
import { RE2JS } from 're2js'
import * as v from 'valibot'

const common = {
  title: v.optional(v.string()),
  help: v.optional(v.string()),
  required: v.optional(v.boolean()),
}

const pattern = v.pipe(
  v.string(),
  v.maxLength(500),
  v.check(
    (text) => isPattern(text),
    'is not a regular expression (RE2 syntax: no look-around, no back-references)',
  ),
)

/** One declared setting, or one extra field of create_account or update_account. */
export const Field = v.variant('type', [
  v.strictObject({
    ...common,
    type: v.literal('string'),
    pattern: v.optional(pattern),
    format: v.optional(v.picklist(['url', 'hostname', 'email'])),
    enum: v.optional(v.pipe(v.array(v.string()), v.minLength(1))),
    default: v.optional(v.string()),
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
export const Fields = v.record(
  v.pipe(
    v.string(),
    v.regex(/^[a-z][a-z0-9_]{0,62}$/, 'must look like `base_url`: lower case, digits, underscores'),
  ),
  Field,
)
export type Fields = v.InferOutput<typeof Fields>

/** Longest value of a string setting, in characters. */
export const MAX_SETTING_LENGTH = 8192

/** A host name as a setting may hold it: labels, no port, no user, no trailing dot. */
export const HOSTNAME =
  /^(?=.{1,253}$)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/

/**
 * The schema of the object that holds these fields. Unknown members are dropped, `null` means absent,
 * defaults are filled in.
 */
export function flatSchema(fields: Fields) {
  return v.object(
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)])),
  )
}

/**
 * A string setting's own rules. Patterns come from third parties and run in the host, so they run on
 * an engine of linear time: `(a+)+$` on the built-in one would stop the host for everybody.
 */
function stringSchema(field: Extract<Field, { type: 'string' }>) {
  const { pattern, format } = field
  const matches = pattern === undefined ? null : RE2JS.compile(pattern)
  return v.pipe(
    v.string(),
    v.maxLength(MAX_SETTING_LENGTH),
    v.check(
      (text) => field.enum === undefined || field.enum.includes(text),
      () => `must be one of ${field.enum?.map((one) => JSON.stringify(one)).join(', ')}`,
    ),
    v.check((text) => matches === null || matches.matches(text), `does not match ${pattern}`),
    v.check((text) => format === undefined || FORMATS[format](text), `is not a ${format}`),
  )
}

const FORMATS = {
  url: isBaseUrl,
  hostname: (text: string) => HOSTNAME.test(text),
  email: (text: string) => /^[^\s@]{1,200}@[^\s@]{1,250}$/.test(text),
} as const

function fieldSchema(field: Field) {
  const inner =
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
  const described = v.pipe(
    inner as v.BaseSchema<
      string | number | boolean,
      string | number | boolean,
      v.BaseIssue<unknown>
    >,
    v.metadata({ field }),
  )
  if (field.default !== undefined) return v.nullish(described, field.default)
  return field.required === true ? described : v.nullish(described, () => undefined)
}

/** A base address: http or https, no user info, no query, no fragment, no control characters. */
function isBaseUrl(text: string): boolean {
  // The parser drops tabs and newlines silently; what the operator reads must be what is used.
  if (/[\s\\@?#\u0000-\u001f]/.test(text) || !/^https?:\/\/[^/]/i.test(text)) return false
  return URL.canParse(text)
}

function isPattern(text: string): boolean {
  try {
    RE2JS.compile(text)
    return true
  } catch {
    // The answer itself: the constructor is the only judge of a pattern.
    return false
  }
}
