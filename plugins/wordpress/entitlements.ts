/** Entitlements: roles, which can be granted, and individual capabilities, which can only be listed. */
import { ConnectorError, chain, type Json, type Output, type Paged, paged } from 'keyway/sdk'
import { type User, usersOf } from './accounts.ts'
import type { Ctx } from './service.ts'

const ROLE = 'ROLE'
const CAPABILITY = 'CAPABILITY'

/** Role with all rights on a site. */
export const ADMINISTRATOR = 'administrator'

/** Prefix of the ids of capabilities, so that none equals the id of a role. */
const PREFIX = 'capability:'

type Entitlement = Output<'list_entitlements'>[number]

/** Predefined roles of WordPress. */
const ROLES: Readonly<Record<string, string>> = {
  [ADMINISTRATOR]: 'Administrator',
  editor: 'Editor',
  author: 'Author',
  contributor: 'Contributor',
  subscriber: 'Subscriber',
}

/**
 * Returns one page of the predefined roles, followed by the other roles and capabilities that users hold.
 * WordPress does not list roles over REST, so those of plugins are found only if a user holds them.
 */
export const listEntitlements = (ctx: Ctx): Promise<Paged<Entitlement[]>> =>
  chain<Entitlement>(ctx, {
    roles: () => Object.entries(ROLES).map(([id, label]) => role(id, label)),
    found: async ({ cursor }) => {
      const { users, seen } = placeOf(cursor)
      const page = await usersOf(ctx)({ cursor: users, size: null })
      const held = new Set(page.response.flatMap(heldBy))
      const added = [...held].filter((id) => !Object.hasOwn(ROLES, id) && !seen.includes(id))
      return paged(
        added.map((id) => (id.startsWith(PREFIX) ? capability(id) : role(id, id))),
        page.cursor === null ? null : { users: page.cursor, seen: [...seen, ...added] },
      )
    },
  })

/** Decodes a cursor: the position in the list of users, and the ids returned so far. */
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

/** Returns the ids of a user's roles and individual capabilities. */
export function heldBy({ roles, extra_capabilities: extra }: User): string[] {
  const own = Object.entries(extra ?? {}).flatMap(([name, given]) =>
    given === true && !roles.includes(name) ? [PREFIX + name] : [],
  )
  return [...roles, ...own]
}

/**
 * Decodes the type, id and resource of a requested role.
 *
 * @throws `bad_request` if no such entitlement can exist; `unsupported_operation` for a capability
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
