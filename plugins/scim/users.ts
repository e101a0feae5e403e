/** SCIM users (RFC 7643 section 4.1) and their conversion to accounts. */
import { ConnectorError, type Output } from 'keyway/sdk'

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const ENTERPRISE_SCHEMA = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

export type Email = { value?: string; type?: string; primary?: boolean }

export type User = {
  id: string
  userName?: string
  externalId?: string
  name?: { givenName?: string; familyName?: string }
  displayName?: string
  active?: boolean
  emails?: Email[] | null
  groups?: { value?: string; type?: string }[]
}

type Account = Output<'get_account'>

/**
 * Returns the id of a user or group as text. Some services use numbers.
 *
 * @throws `invalid_response` if the id is missing, or is a number that JSON cannot represent exactly
 */
export function idOf(resource: unknown): string {
  const { id }: { id?: unknown } = Object(resource)
  if ((typeof id === 'string' && id !== '') || Number.isSafeInteger(id)) return String(id)
  throw new ConnectorError(
    'invalid_response',
    `The service gave a user or a group without a usable id: ${JSON.stringify(id ?? null)}`,
  )
}

/** Converts a user to an account, with those of the named custom attributes that the user has. */
export function toAccount(user: User, attributes: readonly string[] = []): Account {
  return {
    integration_specific_id: idOf(user),
    email: mainEmail(user.emails)?.value ?? emailLike(user.userName),
    given_name: user.name?.givenName ?? null,
    family_name: user.name?.familyName ?? null,
    username: user.userName ?? null,
    user_status: statusOf(user),
    extra_data: extraOf({ display_name: user.displayName, external_id: user.externalId }),
    custom_attributes: attributes.length === 0 ? null : customAttributes(user, attributes),
  }
}

/**
 * Returns the status of a user. `active` is optional: if it is missing, the user is active. Some services
 * write it as text.
 */
export const statusOf = (user: Pick<User, 'active'>): 'ACTIVE' | 'SUSPENDED' =>
  String(user.active ?? true).toLowerCase() === 'false' ? 'SUSPENDED' : 'ACTIVE'

/** Returns the primary e-mail address, or else the one for work, or else the first one. */
export function mainEmail(given: readonly Email[] | null | undefined): Email | undefined {
  const emails = given ?? []
  return (
    emails.find((one) => one.primary === true) ??
    emails.find((one) => one.type?.toLowerCase() === 'work') ??
    emails[0]
  )
}

const emailLike = (userName?: string): string | null =>
  userName !== undefined && /^[^\s@]+@[^\s@]+$/.test(userName) ? userName : null

function extraOf(values: Record<string, string | null | undefined>) {
  const present = Object.entries(values).filter(([, value]) => (value ?? null) !== null)
  return present.length === 0 ? null : Object.fromEntries(present)
}

/**
 * Returns attributes of a resource as text, by name: `title`, `department` (also from an extension) or
 * `urn:...:User:department`. Missing and multi-valued attributes are left out.
 */
export function customAttributes(resource: object, names: readonly string[]) {
  const found = names.map((name) => [name, asText(attributeOf(resource, name))] as const)
  return Object.fromEntries(found.filter((one): one is [string, string] => one[1] !== undefined))
}

function attributeOf(resource: object, name: string): unknown {
  const direct = memberOf(resource, name)
  if (direct !== undefined) return direct
  const extensions = Object.entries(resource).filter(([key]) => /^urn:/i.test(key))
  for (const [urn, extension] of extensions) {
    const prefix = `${urn}:`.toLowerCase()
    const short = name.toLowerCase().startsWith(prefix) ? name.slice(prefix.length) : name
    const value = memberOf(extension, short)
    if (value !== undefined) return value
  }
  // Core attributes may be requested by their full name as well.
  const core = `${USER_SCHEMA}:`.toLowerCase()
  return name.toLowerCase().startsWith(core)
    ? memberOf(resource, name.slice(core.length))
    : undefined
}

/** Returns a member by name, ignoring case (RFC 7643 section 2.1). */
function memberOf(value: unknown, name: string): unknown {
  const wanted = name.toLowerCase()
  return Object.entries(Object(value)).find(([key]) => key.toLowerCase() === wanted)?.[1]
}

/**
 * Returns a value as text. A complex value, such as the manager, is represented by its `value`: the other
 * user's id.
 */
function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const inner = memberOf(value, 'value')
  return typeof inner === 'string' ? inner : undefined
}
