/** Associations of users with entitlements: group memberships, and direct or effective roles. */
import { chain, type Input, keyPage, type Output, type Paged, path } from 'keyway/sdk'
import { readUser, type User } from './accounts.ts'
import { type Group, readGroups, roleEntitlement } from './entitlements.ts'
import { listContainers } from './in-each.ts'
import { CLOUD, readDomains, readProjects } from './resources.ts'
import { type Ctx, readList } from './service.ts'
import { type Assignment, systemRoles } from './system-roles.ts'

type Association = Output<'find_entitlement_associations'>[number]

/**
 * Returns one page of associations: memberships, then roles in the cloud, in domains, and in projects. Roles
 * are read one place at a time, because those of a whole cloud may exceed the limit of one reply.
 */
export function findAssociations(ctx: Ctx): Promise<Paged<Association[]>> {
  const heldIn = (scope: 'domain' | 'project') => async (id: string) => {
    const query = { [`scope.${scope}.id`]: id, ...effective(ctx) }
    const held = await readList<Assignment>(ctx, '/role_assignments', query)
    return unique(held.flatMap(toAssociation))
  }
  const membersOf = async (id: string) => {
    const users = await readList<User>(ctx, path`/groups/${id}/users`)
    return users.map((user) => membership(user.id, { id }))
  }
  return chain<Association>(ctx, {
    members: listContainers(() => readGroups(ctx), membersOf, keyOf),
    system: async (at) =>
      keyPage(at, unique((await systemRoles(ctx)).flatMap(toAssociation)), keyOf),
    domains: listContainers(() => readDomains(ctx), heldIn('domain'), keyOf),
    projects: listContainers(() => readProjects(ctx), heldIn('project'), keyOf),
  })
}

/**
 * Returns all associations of one user.
 *
 * @throws `not_found` if the user is unknown; the list of its roles alone would be empty
 */
export async function getAccountAssociations(
  { account_id: id }: Input<'get_account_entitlement_associations'>,
  ctx: Ctx,
): Promise<Association[]> {
  await readUser(ctx, id)
  const memberOf = await readList<Group>(ctx, path`/users/${id}/groups`)
  const query = { 'user.id': id, ...effective(ctx) }
  const held = await readList<Assignment>(ctx, '/role_assignments', query)
  // Keystone never returns effective roles in the cloud.
  const system = ctx.settings.associations === 'effective' ? await systemRoles(ctx) : []
  const roles = [...system.filter(({ user }) => user?.id === id), ...held]
  ctx.raw({ groups: memberOf, role_assignments: roles })
  return unique([
    ...memberOf.map((group) => membership(id, group)),
    ...roles.flatMap(toAssociation),
  ])
}

/**
 * Returns the query parameter for effective roles. It must be absent for direct ones: even an empty value
 * requests effective roles.
 */
const effective = (ctx: Ctx) =>
  ctx.settings.associations === 'effective' ? { effective: 'true' } : {}

const membership = (user: string, group: Pick<Group, 'id'>): Association => ({
  account_id: user,
  integration_specific_entitlement_id: group.id,
  integration_specific_resource_id: CLOUD,
})

/** Converts a role assignment. Assignments to groups are skipped: they are not a user's own. */
function toAssociation({ user, role, scope }: Assignment): Association[] {
  if (user === undefined) return []
  const inherited = scope['OS-INHERIT:inherited_to'] !== undefined
  return [
    {
      account_id: user.id,
      integration_specific_entitlement_id: roleEntitlement(role.id, inherited),
      integration_specific_resource_id: scope.project?.id ?? scope.domain?.id ?? CLOUD,
    },
  ]
}

/** Removes duplicates. A user may hold an effective role in several ways. */
const unique = (all: readonly Association[]): Association[] => [
  ...new Map(all.map((one) => [keyOf(one), one])).values(),
]

const keyOf = (one: Association): string =>
  JSON.stringify([
    one.account_id,
    one.integration_specific_resource_id,
    one.integration_specific_entitlement_id,
  ])
