/** A SCIM user (RFC 7643 section 4.1) and the account that it is. */
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
 * The id of a user or a group, as text: some services have numbers.
 *
 * @throws invalid_response for a resource without one, and for a number that JSON does not give exactly.
 */
export function idOf(resource: unknown): string {
  const { id }: { id?: unknown } = Object(resource)
  if ((typeof id === 'string' && id !== '') || Number.isSafeInteger(id)) return String(id)
  throw new ConnectorError(
    'invalid_response',
    `The service gave a user or a group without a usable id: ${JSON.stringify(id ?? null)}`,
  )
}

/** The account, with those of the named custom attributes that the user has. */
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

/** `active` is optional: a service without it has active users only. Some write it as text. */
export const statusOf = (user: Pick<User, 'active'>): 'ACTIVE' | 'SUSPENDED' =>
  String(user.active ?? true).toLowerCase() === 'false' ? 'SUSPENDED' : 'ACTIVE'

/** The primary address, else the one for work, else the first. */
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
 * Attributes of a resource by name, as text: `title`, `department` (also when an extension has it) or
 * `urn:...:User:department`. What the resource does not have, or has several of, is left out.
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
  // The core schema's attributes may be named in full, too.
  const core = `${USER_SCHEMA}:`.toLowerCase()
  return name.toLowerCase().startsWith(core)
    ? memberOf(resource, name.slice(core.length))
    : undefined
}

/** Names of attributes are not case sensitive (RFC 7643 section 2.1). */
function memberOf(value: unknown, name: string): unknown {
  const wanted = name.toLowerCase()
  return Object.entries(Object(value)).find(([key]) => key.toLowerCase() === wanted)?.[1]
}

/** A complex value, such as the manager, is known by its `value`: the other user's id. */
function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const inner = memberOf(value, 'value')
  return typeof inner === 'string' ? inner : undefined
}
