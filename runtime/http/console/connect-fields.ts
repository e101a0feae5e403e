/**
 * Fields of the form that connects an app, made from the connection schema of its connector: one for each
 * member of `auth` and `settings`. They are validated when the app is connected, not here.
 */
import type { CoreError } from '../../contract/errors/problem.ts'
import type { Form } from '../frame/form.ts'
import type { connectionSchemaOf } from '../schemas/connection-schema.ts'
import type { JsonSchema } from '../schemas/tidy.ts'

/** Kind of input: `json` is text that contains JSON, `list` is words separated by spaces. */
type FieldKind = 'text' | 'number' | 'json' | 'list' | 'check' | 'choice'

export type ConnectField = {
  /** Member of the connection schema. */
  member: string
  /** Name in the form. That of a secret begins with `secret.`, and no page repeats its value. */
  name: string
  title: string
  help: string
  kind: FieldKind
  isSecret: boolean
  isRequired: boolean
  /** The value is always sent and may be empty. The connector decides whether it needs one. */
  mayBeEmpty: boolean
  choices: readonly string[]
  /** Initial text. */
  given: string
}

/** A group of fields: the settings, or one credential. */
export type FieldGroup = {
  /** Id of one of several credentials. Empty for a single credential, and for the settings. */
  id: string
  part: 'auth' | 'settings'
  title: string
  help: string
  isOptional: boolean
  fields: readonly ConnectField[]
}

/** Input in the form of `POST /apps`, without empty parts. */
export type Filled = { auth?: Record<string, unknown>; settings?: Record<string, unknown> }

/** Title by which the contract names a kind of credentials. It is not meant for people. */
const KIND_TITLE = /^\w+Credential$/

const textIn = (schema: JsonSchema, keyword: string): string =>
  typeof schema[keyword] === 'string' ? schema[keyword] : ''

/** Returns the field groups of a connector: its credentials, then its settings, if there are any. */
export function fieldGroupsOf({
  auth_schema: auth,
  settings_schema: settings,
}: Pick<ReturnType<typeof connectionSchemaOf>, 'auth_schema' | 'settings_schema'>): FieldGroup[] {
  const isOne = auth['x-credential-type'] !== undefined
  const credentials = isOne
    ? [group('auth', '', auth, false)]
    : ordered(auth).map(([id, one]) => group('auth', id, one, !isRequired(auth, id)))
  return [...credentials, group('settings', '', settings, false)].filter(
    ({ fields }) => fields.length > 0,
  )
}

function group(
  part: FieldGroup['part'],
  id: string,
  schema: JsonSchema,
  isOptional: boolean,
): FieldGroup {
  const at = id === '' ? part : `${part}.${id}`
  return {
    ...{ id, part, isOptional, title: textIn(schema, 'title').replace(KIND_TITLE, '') },
    help: textIn(schema, 'description'),
    fields: ordered(schema).map(([member, one]) => fieldOf(at, member, one, schema)),
  }
}

function fieldOf(at: string, member: string, schema: JsonSchema, whole: JsonSchema): ConnectField {
  const isSecret = schema['writeOnly'] === true || schema['x-secret'] === true
  const kind = kindOf(schema)
  const isNeeded = isRequired(whole, member)
  const mayBeEmpty = isNeeded && at.startsWith('auth') && kind === 'text' && !isSecret
  return {
    ...{ member, kind, isSecret, mayBeEmpty, name: `${isSecret ? 'secret.' : ''}${at}.${member}` },
    title: textIn(schema, 'title') || member.replaceAll('_', ' '),
    help: textIn(schema, 'description'),
    // An unchecked box means no.
    isRequired: isNeeded && !mayBeEmpty && kind !== 'check',
    choices: choicesIn(schema),
    given: isSecret ? '' : asText(schema['default']),
  }
}

const isRequired = ({ required = [] }: JsonSchema, name: string): boolean => required.includes(name)

/** Returns the members in form order. Members that the order omits follow. */
function ordered({ properties = {}, field_order: order }: JsonSchema): [string, JsonSchema][] {
  const named = Array.isArray(order) ? order.map(String) : []
  const rest = Object.keys(properties).filter((name) => !named.includes(name))
  return [...named, ...rest].flatMap((name): [string, JsonSchema][] => {
    const schema = properties[name]
    return schema === undefined ? [] : [[name, schema]]
  })
}

/** Returns the schema without null. A nullable value is an `anyOf`. */
const bare = (schema: JsonSchema): JsonSchema =>
  (schema.anyOf ?? []).find(({ type }) => type !== 'null') ?? schema

const choicesIn = (schema: JsonSchema): string[] => {
  const all = bare(schema)['enum']
  return Array.isArray(all) ? all.filter((one) => typeof one === 'string') : []
}

const KINDS: Record<string, FieldKind> = {
  integer: 'number',
  number: 'number',
  boolean: 'check',
  array: 'list',
  object: 'json',
}

function kindOf(schema: JsonSchema): FieldKind {
  const { type } = bare(schema)
  const one = Array.isArray(type) ? type.find((name) => name !== 'null') : type
  return choicesIn(schema).length > 0 ? 'choice' : (KINDS[one ?? ''] ?? 'text')
}

/** Formats a value as the text of its field. */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return value.join(' ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Returns the submitted text of a field. Spaces around a secret are part of it. */
export const typedIn = (form: Form, { name, isSecret }: ConnectField): string => {
  const text = form.get(name) ?? ''
  return isSecret ? text : text.trim()
}

/** Reports whether any field differs from its initial value. */
export const isTouched = ({ fields }: FieldGroup, form: Form): boolean =>
  fields.some((field) => typedIn(form, field) !== field.given)

/**
 * Returns the input with the types of its values. A text that does not fit its type is kept, and refused
 * later by its name.
 *
 * @param isAsked Whether a group is sent.
 * @throws CoreError `invalid` for text that is not JSON; the text is not repeated
 */
export function connectionIn(
  groups: readonly FieldGroup[],
  form: Form,
  isAsked: (group: FieldGroup) => boolean,
  noJson: (field: ConnectField) => CoreError,
): Filled {
  const filled: Filled = {}
  for (const one of groups.filter(isAsked)) {
    const values: Record<string, unknown> = Object.fromEntries(
      one.fields
        .map((field) => [field.member, valueIn(field, typedIn(form, field), noJson)] as const)
        .filter(([, value]) => value !== undefined),
    )
    const part = filled[one.part] ?? {}
    filled[one.part] = one.id === '' ? { ...part, ...values } : { ...part, [one.id]: values }
  }
  return filled
}

function valueIn(
  field: ConnectField,
  text: string,
  noJson: (field: ConnectField) => CoreError,
): unknown {
  const { kind, isRequired: must } = field
  if (kind === 'check') return text !== ''
  if (kind === 'list') {
    const words = text.split(/[\s,]+/).filter((word) => word !== '')
    return words.length > 0 || must ? words : undefined
  }
  if (text === '') return field.mayBeEmpty ? '' : undefined
  if (kind === 'number') return /^-?\d{1,15}$/.test(text) ? Number(text) : text
  if (kind !== 'json') return text
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw noJson(field)
    throw error
  }
}
