/** Entitlements: groups, and roles in the cloud, its domains and its projects. */
import { ConnectorError, chain, keyPage, type Output, type Paged, path } from 'keyway/sdk'
import { listContainers } from './in-each.ts'
import { CLOUD, type Domain, readDomains, readProjects } from './resources.ts'
import { type Ctx, readList } from './service.ts'

export const GROUP = 'GROUP'

/**
 * Role types, with the API collection of the place where the role is held. An inherited role applies to
 * everything below that place instead of the place itself.
 */
const ROLE_TYPES = {
  SYSTEM_ROLE: { at: 'system', inherited: false },
  DOMAIN_ROLE: { at: 'domains', inherited: false },
  INHERITED_DOMAIN_ROLE: { at: 'domains', inherited: true },
  PROJECT_ROLE: { at: 'projects', inherited: false },
  INHERITED_PROJECT_ROLE: { at: 'projects', inherited: true },
} as const
export type RoleType = keyof typeof ROLE_TYPES

export type Role = {
  id: string
  name: string
  description?: string | null
  domain_id?: string | null
}
export type Group = { id: string; name: string; description?: string; domain_id: string }
type Entitlement = Output<'list_entitlements'>[number]

/**
 * Prefix of the id of an inherited role. It distinguishes the role from its direct form, since associations
 * have no type.
 */
const INHERITED = 'inherited:'

/** Returns a role's id as an entitlement. */
export const roleEntitlement = (role: string, inherited: boolean): string =>
  inherited ? INHERITED + role : role

/** Entitlement, decoded from a request. */
export type Grant =
  | { type: typeof GROUP; group: string }
  | { type: RoleType; role: string; place: string; inherited: boolean }

const isRoleType = (type: string): type is RoleType => Object.hasOwn(ROLE_TYPES, type)

/**
 * Decodes the type, id and resource of a requested entitlement.
 *
 * @throws `bad_request` if no such entitlement can exist
 */
export function grantOf(type: string, id: string, resource: string): Grant {
  if (id === '') throw wrong('an entitlement has an id')
  if (type === GROUP || type === 'SYSTEM_ROLE') {
    if (resource !== CLOUD) throw wrong(`a ${type} belongs to the whole cloud, not to ${resource}`)
    return type === GROUP ? { type, group: id } : { type, role: id, place: CLOUD, inherited: false }
  }
  if (!isRoleType(type))
    throw wrong(`the types are ${[GROUP, ...Object.keys(ROLE_TYPES)].join(', ')}, not ${type}`)
  const { inherited, at } = ROLE_TYPES[type]
  if (resource === CLOUD) throw wrong(`a ${type} belongs to one of the ${at}; name it`)
  if (inherited !== id.startsWith(INHERITED))
    throw wrong(`the id of a ${type} begins ${inherited ? '' : 'not '}with ${INHERITED}`)
  const role = inherited ? id.slice(INHERITED.length) : id
  return { type, role, place: resource, inherited }
}

const wrong = (why: string) => new ConnectorError('bad_request', `No such entitlement: ${why}`)

/** Returns the API path to grant, check and revoke an entitlement of a user. */
export function addressOf(grant: Grant, user: string): string {
  if (grant.type === GROUP) return path`/groups/${grant.group}/users/${user}`
  const { role, place } = grant
  const { at, inherited } = ROLE_TYPES[grant.type]
  if (at === 'system') return path`/system/users/${user}/roles/${role}`
  return inherited
    ? path`/OS-INHERIT/${at}/${place}/users/${user}/roles/${role}/inherited_to_projects`
    : path`/${at}/${place}/users/${user}/roles/${role}`
}

/** Returns one page of entitlements: groups, then roles in the cloud, in domains, and in projects. */
export function listEntitlements(ctx: Ctx): Promise<Paged<Entitlement[]>> {
  const rolesOf = createRoles(ctx)
  const allDomains = once(() => readDomains(ctx))
  const allProjects = once(() => readProjects(ctx))
  return chain<Entitlement>(ctx, {
    groups: async (at) => keyPage(at, (await readGroups(ctx)).map(toGroup), keyOf),
    system: async (at) => {
      const roles = await rolesOf(null)
      return keyPage(
        at,
        roles.map((role) => toEntitlement('SYSTEM_ROLE', role, null)),
        keyOf,
      )
    },
    domains: listContainers(
      allDomains,
      async (id) => {
        const place = (await allDomains()).find((one) => one.id === id)
        if (place === undefined) return []
        return (await rolesOf(id)).flatMap((role) => [
          toEntitlement('DOMAIN_ROLE', role, place),
          toEntitlement('INHERITED_DOMAIN_ROLE', role, place),
        ])
      },
      keyOf,
    ),
    projects: listContainers(
      allProjects,
      async (id) => {
        const place = (await allProjects()).find((one) => one.id === id)
        if (place === undefined) return []
        return (await rolesOf(place.domain_id)).flatMap((role) => [
          toEntitlement('PROJECT_ROLE', role, place),
          toEntitlement('INHERITED_PROJECT_ROLE', role, place),
        ])
      },
      keyOf,
    ),
  })
}

const keyOf = (one: Entitlement): string => one.integration_specific_id

/**
 * Returns the groups of all domains, in any order. If each domain has its own driver, Keystone cannot list
 * the groups of all domains at once.
 */
export async function readGroups(ctx: Ctx): Promise<Group[]> {
  const all: Group[] = []
  for (const { id } of await readDomains(ctx))
    all.push(...(await readList<Group>(ctx, '/groups', { domain_id: id })))
  return all
}

const toGroup = ({ id, name, description, domain_id }: Group): Entitlement => ({
  entitlement_type: GROUP,
  integration_specific_id: id,
  integration_specific_resource_id: CLOUD,
  label: name,
  description: description || null,
  extra_data: { domain_id },
})

/** Returns a function that calls `read` once and returns its result every time. */
function once<T>(read: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | null = null
  return () => {
    known ??= read()
    return known
  }
}

/**
 * Returns a function for the roles that can be granted in a domain: the cloud's roles and the domain's own.
 * Without a domain, only the cloud's roles.
 */
function createRoles(ctx: Ctx): (domain: string | null) => Promise<Role[]> {
  const global = once(() => readList<Role>(ctx, '/roles'))
  const own = new Map<string, () => Promise<Role[]>>()
  return async (domain) => {
    if (domain === null) return global()
    const read = own.get(domain) ?? once(() => readList<Role>(ctx, '/roles', { domain_id: domain }))
    own.set(domain, read)
    return [...(await global()), ...(await read())]
  }
}

function toEntitlement(type: RoleType, role: Role, place: Domain | null): Entitlement {
  const { inherited } = ROLE_TYPES[type]
  const where = inherited ? ` below ${place?.name}` : place === null ? '' : ` in ${place.name}`
  return {
    entitlement_type: type,
    integration_specific_id: roleEntitlement(role.id, inherited),
    integration_specific_resource_id: place?.id ?? CLOUD,
    label: role.name + where,
    description: role.description || null,
  }
}
