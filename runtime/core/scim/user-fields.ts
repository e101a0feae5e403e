/**
 * Reads our fields from a pushed user, or from a patch of one. Pure. Attribute names are compared without
 * case (RFC 7643 section 2.1).
 */
import { SCIM_LENGTHS, USER_FIELDS, type UserField } from '../../contract/models/scim.ts'
import { entriesOf } from '../../contract/schema/keys.ts'
import { isObject, membersOf } from '../../contract/schema/record.ts'
import { isEmail } from '../directory/email.ts'
import { fitsFilter } from './filter.ts'
import { member, type PatchOperation } from './patch.ts'
import {
  fieldAt,
  fieldsBelow,
  type PatchPath,
  parseScimPath,
  requireFewAttributes,
  schemaOf,
} from './paths.ts'
import { invalidValue, required } from './problem.ts'

/** Null removes a value. An absent field is not changed. */
export type UserValues = Partial<Record<Exclude<UserField, 'active'>, string | null>> & {
  active?: boolean
}

/**
 * Reads the fields of a whole resource, as sent by POST and PUT.
 *
 * @throws ScimError
 */
export function valuesOfResource(body: Record<string, unknown>): UserValues {
  requireFewAttributes([body])
  const values: UserValues = {}
  readMembers(values, body)
  return values
}

/**
 * Returns the values of a PUT, with null for each field that it omits. Only `active` is kept when omitted: an
 * omission must not let anybody in again.
 */
export function replaced(values: UserValues): UserValues {
  const absent = entriesOf(USER_FIELDS).flatMap(([name]) =>
    name === 'active' || name in values ? [] : [[name, null] as const],
  )
  return { ...Object.fromEntries(absent), ...values }
}

/**
 * Returns the combined result of the operations of a patch, applied in order. `email` is the current address.
 */
export function valuesOfPatch(operations: readonly PatchOperation[], email: string): UserValues {
  requireFewAttributes(operations.map(({ value }) => value))
  const values: UserValues = {}
  for (const { op, path, value } of operations) {
    const current = values.email ?? email
    if (op === 'remove') requireRemovable(path ?? '')
    const schema = path === null ? null : wholeSchema(path)
    if (schema !== null) {
      patchSchema(values, op, schema, value)
      continue
    }
    if (path === null) readMembers(values, op === 'add' ? beside(value) : membersOf(value))
    else if (op === 'add' && fieldAt(schemaOf(path).rest) === 'email')
      readMembers(values, beside({ [path]: value }))
    else patchAt(values, parseScimPath(path), op === 'remove' ? null : value, current)
  }
  return values
}

/** @throws ScimError `mutability` (RFC 7644 section 3.5.2.2) */
function requireRemovable(path: string): void {
  if (fieldAt(schemaOf(path).rest) === 'userName' || wholeSchema(path) === 'user')
    throw required('userName')
}

type Schema = 'user' | 'enterprise'

/** Returns the schema that a path names without an attribute. Null for any other path. */
function wholeSchema(path: string): Schema | null {
  const { enterprise, rest } = schemaOf(path)
  if (rest !== '' || enterprise === null) return null
  return enterprise ? 'enterprise' : 'user'
}

/** Changes all attributes of a schema, or those that a value names. */
function patchSchema(
  values: UserValues,
  op: PatchOperation['op'],
  schema: Schema,
  value: unknown,
): void {
  if (op === 'remove' || value === null) {
    for (const [field, { of }] of entriesOf(USER_FIELDS))
      if (of === schema) set(values, field, null)
  } else if (isObject(value)) readMembers(values, op === 'add' ? beside(value) : value)
  else throw invalidValue('the value of a schema must be an object of attributes')
}

/** Drops added addresses that are neither primary nor for work, so that the person's own address is kept. */
const beside = (value: unknown): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(membersOf(value)).flatMap(([key, inner]) => {
      if (fieldAt(schemaOf(key).rest) !== 'email' || !(Array.isArray(inner) || isObject(inner)))
        return [[key, inner]]
      const own = [inner].flat().filter((one) => !isObject(one) || isPrimary(one) || isForWork(one))
      return own.length === 0 ? [] : [[key, own]]
    }),
  )

const wordOf = (one: Record<string, unknown>, name: string): string =>
  String(member(one, name) ?? '').toLowerCase()
const isPrimary = (one: Record<string, unknown>): boolean => wordOf(one, 'primary') === 'true'
const isForWork = (one: Record<string, unknown>): boolean =>
  ['', 'work'].includes(wordOf(one, 'type'))

function readMembers(values: UserValues, members: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(members)) {
    const { rest } = schemaOf(key)
    if (rest === '') {
      if (isObject(value)) readMembers(values, value)
      // A schema that is not stored may hold characters that no path has.
    } else if (!/^(urn:|(schemas|id|meta)$)/i.test(rest)) readAttribute(values, rest, value)
  }
}

/**
 * Reads one attribute by its name, or by a path such as `name.givenName`, which Entra ID sends in a patch
 * without a path.
 */
function readAttribute(values: UserValues, name: string, value: unknown): void {
  if (/[[.]/.test(name)) patchAt(values, parseScimPath(name), value, values.email ?? '')
  else readWhole(values, name, value)
}

/** Reads an attribute with its sub-attributes, if it has any. */
function readWhole(values: UserValues, name: string, value: unknown): void {
  const field = fieldAt(name)
  if (field !== null) return set(values, field, value)
  if (isObject(value))
    for (const [sub, inner] of Object.entries(value)) {
      const below = fieldAt(`${name}.${sub}`)
      if (below !== null) set(values, below, inner)
    }
  else if (value === null) for (const below of fieldsBelow(name)) set(values, below, null)
}

/** Changes one attribute by its path. Attributes that are not stored are ignored. */
function patchAt(values: UserValues, path: PatchPath, value: unknown, email: string): void {
  const { name, filter, sub } = path
  const field = fieldAt(name)
  if (field === 'email') return patchEmail(values, path, value, email)
  if (field === 'manager') {
    if (sub === '' || sub === 'value') set(values, 'manager', value)
    return
  }
  if (filter !== null) return
  if (sub !== '') {
    const inner = fieldAt(`${name}.${sub}`)
    if (inner !== null) set(values, inner, value)
  } else readWhole(values, name, value)
}

/** Changes the address. Only one is stored, which counts as primary and for work. */
function patchEmail(values: UserValues, path: PatchPath, value: unknown, email: string): void {
  const { filter, sub } = path
  if (filter === null && sub === '') return set(values, 'email', value)
  const main = { type: 'work', primary: true, value: email }
  if (filter !== null && !fitsFilter(filter, main)) return
  if (sub === 'value' || sub === '')
    set(values, 'email', isObject(value) ? member(value, 'value') : value)
}

function set(values: UserValues, field: UserField, value: unknown): void {
  if (field === 'active') {
    // RFC 7643 section 2.5: null means unassigned. It neither lets anybody in nor locks them out.
    if (value !== null) values.active = booleanOf(value)
    return
  }
  if (field === 'email') {
    values.email =
      Array.isArray(value) || isObject(value) ? mainEmail([value].flat()) : textOf('emails', value)
    return
  }
  const single = field === 'manager' ? managerOf(value) : value
  values[field] = textOf(USER_FIELDS[field].path, single)
}

/** Entra ID sends `"False"`. */
function booleanOf(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  const word = String(value).toLowerCase()
  if (typeof value === 'string' && (word === 'true' || word === 'false')) return word === 'true'
  throw invalidValue('active must be true or false')
}

function textOf(path: string, value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
  if (typeof text !== 'string') throw invalidValue(`${path} must be text`)
  const most = path === 'userName' || path === 'externalId' ? SCIM_LENGTHS.name : SCIM_LENGTHS.value
  if (text.length > most)
    throw invalidValue(`${path} has ${text.length} characters; at most ${most} are allowed`)
  return text
}

/** Accepts an object (RFC 7643 section 4.3) or the id alone. */
const managerOf = (value: unknown): unknown => {
  const [one] = [value].flat()
  return isObject(one) ? (member(one, 'value') ?? null) : (one ?? null)
}

function mainEmail(list: readonly unknown[]): string | null {
  const found = list.map((one) => (isObject(one) ? one : { value: one }))
  const main =
    found.find(isPrimary) ?? found.find((one) => wordOf(one, 'type') === 'work') ?? found[0]
  return main === undefined ? null : textOf('emails', member(main, 'value'))
}

/**
 * Returns the address of a person: the pushed address, or else a user name that is an address.
 *
 * @throws ScimError `invalidValue`
 */
export function emailOf(email: string | null | undefined, userName: string): string {
  const found = email ?? userName
  if (isEmail(found)) return found
  throw invalidValue(
    email === null || email === undefined
      ? 'emails is missing, and userName is not an e-mail address: map one of them to the person’s address'
      : 'the address in emails is not an e-mail address',
  )
}
