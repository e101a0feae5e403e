/** What can be granted: roles. What can only be seen: rights that a user has beside its roles. */
import { ConnectorError, chain, type Json, type Output, type Paged, paged } from 'keyway/sdk'
import { type User, usersOf } from './accounts.ts'
import type { Ctx } from './service.ts'

const ROLE = 'ROLE'
const CAPABILITY = 'CAPABILITY'

/** The role that may do everything on a site. */
export const ADMINISTRATOR = 'administrator'

/** What ids of rights begin with, so that none is the id of a role. */
const PREFIX = 'capability:'

type Entitlement = Output<'list_entitlements'>[number]

/** The roles that every WordPress begins with. */
const ROLES: Readonly<Record<string, string>> = {
  [ADMINISTRATOR]: 'Administrator',
  editor: 'Editor',
  author: 'Author',
  contributor: 'Contributor',
  subscriber: 'Subscriber',
}

/**
 * The roles that every site has, then what users hold beside them: WordPress has no list of roles by REST,
 * so those of plugins are found where somebody holds them.
 */
export const listEntitlements = (ctx: Ctx): Promise<Paged<Entitlement[]>> =>
  chain<Entitlement>(ctx, {
    roles: () => Object.entries(ROLES).map(([id, label]) => role(id, label)),
    found: async ({ cursor }) => {
      const { users, seen } = placeOf(cursor)
      const page = await usersOf(ctx)({ cursor: users, size: null })
      const held = new Set(page.response.flatMap(heldBy))
      const news = [...held].filter((id) => !Object.hasOwn(ROLES, id) && !seen.includes(id))
      return paged(
        news.map((id) => (id.startsWith(PREFIX) ? capability(id) : role(id, id))),
        page.cursor === null ? null : { users: page.cursor, seen: [...seen, ...news] },
      )
    },
  })

/** Where the search for further roles stands, and what it has told so far. */
function placeOf(cursor: Json): { users: Json; seen: string[] } {
  const { users = null, seen = [] }: { users?: Json; seen?: unknown } = Object(cursor)
  return { users, seen: Array.isArray(seen) ? seen.map(String) : [] }
}

const role = (id: string, label: string): Entitlement => ({
  entitlement_type: ROLE,
  integration_specific_id: id,
  integration_specific_resource_id: '',
  label,
  is_assignable: true,
})

const capability = (id: string): Entitlement => ({
  entitlement_type: CAPABILITY,
  integration_specific_id: id,
  integration_specific_resource_id: '',
  label: id.slice(PREFIX.length),
  description:
    'Given to single users, beside their roles. Only a plugin or code on the site can change that',
  is_assignable: false,
})

/** The ids of what a user holds: its roles, and what was given to it alone. */
export function heldBy({ roles, extra_capabilities: extra }: User): string[] {
  const own = Object.entries(extra ?? {}).flatMap(([name, given]) =>
    given === true && !roles.includes(name) ? [PREFIX + name] : [],
  )
  return [...roles, ...own]
}

/**
 * The role that a request names by type, id and resource.
 *
 * @throws bad_request when there can be no such entitlement, unsupported_operation for a right that is no
 * role.
 */
export function roleOf(type: string, id: string, resource: string): string {
  if (type === CAPABILITY)
    throw new ConnectorError(
      'unsupported_operation',
      'WordPress does not let single rights be given or taken by its API. Use roles',
      { app_error_code: 'no_role' },
    )
  if (type !== ROLE || resource !== '' || id === '')
    throw new ConnectorError(
      'bad_request',
      `No such entitlement: the type is ${ROLE}, the id the name of a role such as editor, of no resource`,
    )
  return id
}
