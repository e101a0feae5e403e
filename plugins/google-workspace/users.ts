/** Users of the directory and their conversion to accounts. */
import { type Output, path } from 'keyway/sdk'
import { type Ctx, customer, directory, listing, type PagedListing } from './service.ts'

export type Organization = { title?: string; department?: string; primary?: boolean }

export type User = {
  id: string
  primaryEmail: string
  name?: { givenName?: string; familyName?: string; fullName?: string }
  suspended?: boolean
  suspensionReason?: string
  /** An archived user cannot log in. Its data is kept at a lower price. */
  archived?: boolean
  orgUnitPath?: string
  /** The start of 1970 for a user who has never logged in. */
  lastLoginTime?: string
  organizations?: Organization[]
  externalIds?: { value?: string; type?: string }[]
  relations?: { value?: string; type?: string }[]
  customSchemas?: Record<string, Record<string, unknown>>
  [field: string]: unknown
}

type Account = Output<'get_account'>

/** Maximum page size of users. */
const MAX_USERS = 500

/** Attributes that all users have. Those of custom schemas are named `Schema.field`. */
const CUSTOM: Record<string, (user: User) => string | undefined> = {
  title: (user) => mainOrganization(user)?.title,
  department: (user) => mainOrganization(user)?.department,
  employee_id: ({ externalIds = [] }) =>
    externalIds.find(({ type }) => type === 'organization')?.value,
  manager: ({ relations = [] }) => relations.find(({ type }) => type === 'manager')?.value,
  org_unit_path: (user) => user.orgUnitPath,
}

export const CUSTOM_NAMES = Object.keys(CUSTOM)

/** Returns the query parameters that make Google return the named attributes. */
function projection(attributes: readonly string[] = []) {
  const schemas = attributes.filter((name) => name.includes('.')).map((name) => name.split('.')[0])
  return schemas.length === 0
    ? {}
    : { projection: 'custom', customFieldMask: [...new Set(schemas)].join() }
}

/** Lists the users of the customer. */
export const users = (ctx: Ctx, attributes?: readonly string[]): PagedListing<User> =>
  listing<User>(directory(ctx), {
    path: '/users',
    items: 'users',
    most: MAX_USERS,
    query: { customer: customer(ctx), orderBy: 'email', ...projection(attributes) },
  })

/**
 * Returns one user by id or e-mail address.
 *
 * @throws `not_found` if the user is unknown
 */
export const readUser = (ctx: Ctx, key: string, attributes?: readonly string[]): Promise<User> =>
  directory(ctx).get<User>(path`/users/${key}`, { query: projection(attributes) })

/** Returns the status of a user. Both suspension and archiving can be undone. */
export const statusOf = ({ suspended, archived }: User): 'ACTIVE' | 'SUSPENDED' =>
  suspended || archived ? 'SUSPENDED' : 'ACTIVE'

export const mainOrganization = ({
  organizations = [],
}: Pick<User, 'organizations'>): Organization | undefined =>
  organizations.find((one) => one.primary) ?? organizations[0]

export function toAccount(user: User, attributes: readonly string[] = []): Account {
  return {
    integration_specific_id: user.id,
    email: user.primaryEmail,
    given_name: user.name?.givenName ?? null,
    family_name: user.name?.familyName ?? null,
    username: user.primaryEmail,
    user_status: statusOf(user),
    extra_data: {
      display_name: user.name?.fullName ?? null,
      org_unit_path: user.orgUnitPath ?? null,
      archived: user.archived === true,
    },
    custom_attributes: attributes.length === 0 ? null : customOf(user, attributes),
  }
}

function customOf(user: User, names: readonly string[]): Record<string, string> {
  const found = names.flatMap((name) => {
    const value = Object.hasOwn(CUSTOM, name) ? CUSTOM[name]?.(user) : fieldOf(user, name)
    return value === undefined || value === '' ? [] : [[name, value] as const]
  })
  return Object.fromEntries(found)
}

/** Returns a field of a custom schema. Fields with several values are ignored. */
function fieldOf({ customSchemas = {} }: User, name: string): string | undefined {
  const [schema = '', field = ''] = name.split('.')
  const fields = Object.hasOwn(customSchemas, schema) ? customSchemas[schema] : undefined
  const value = fields && Object.hasOwn(fields, field) ? fields[field] : undefined
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined
}
