/** Associations of users with entitlements. */
import {
  allItems,
  chain,
  type Input,
  ifThere,
  inParallel,
  mapped,
  nested,
  type Output,
  type Paged,
  path,
} from 'keyway/sdk'
import { isUsers, placeOf, type RoleAssignment, roleAssignments } from './admin-roles.ts'
import { EVERYTHING, PLACE } from './entitlements.ts'
import { groups, isUser, type Member, members } from './groups.ts'
import { holders, idOf, licensesOf } from './licenses.ts'
import { readOrgUnits } from './org-units.ts'
import { type Ctx, directory } from './service.ts'
import { readUser, type User, users } from './users.ts'

type Association = Output<'find_entitlement_associations'>[number]

/**
 * Returns one page of associations: organisational units, group roles, licences, then administrator roles.
 */
export function findAssociations(ctx: Ctx): Promise<Paged<Association[]>> {
  return chain<Association>(ctx, {
    async units(at) {
      const ids = await unitIds(ctx)
      return mapped(users(ctx), (user) => place(user, ids))(at)
    },
    groups: nested(groups(ctx), ({ id }) =>
      mapped(members(ctx, id), (member) => inGroup(member, id)),
    ),
    licenses: mapped(holders(ctx), ({ user, license }) => [held(user, idOf(license), EVERYTHING)]),
    roles: mapped(roleAssignments(ctx), roleOf),
  })
}

/**
 * Returns all associations of one user.
 *
 * @throws `not_found` if the user is unknown
 */
export async function getAccountAssociations(
  { account_id: id }: Input<'get_account_entitlement_associations'>,
  ctx: Ctx,
): Promise<Association[]> {
  const user = await readUser(ctx, id)
  const memberOf = await allItems(groups(ctx, user.id))
  const memberships = await inParallel(memberOf, async (group) => {
    // The list of a user's groups does not contain the role. Only the group's member entry does.
    const at = path`/groups/${group.id}/members/${user.id}`
    const member = await ifThere(directory(ctx).get<Member>(at))
    return member === null ? [] : inGroup({ ...member, id: user.id, type: 'USER' }, group.id)
  })
  const licenses = await licensesOf(ctx, user.primaryEmail)
  const roles = await allItems(roleAssignments(ctx, user.id))
  ctx.raw({ user, groups: memberOf, licenses, roles })
  return [
    ...place(user, await unitIds(ctx)),
    ...memberships.flat(),
    ...licenses.map((license) => held(user.id, idOf(license), EVERYTHING)),
    ...roles.flatMap(roleOf),
  ]
}

const held = (account: string, entitlement: string, resource: string): Association => ({
  account_id: account,
  integration_specific_entitlement_id: entitlement,
  integration_specific_resource_id: resource,
})

/** Returns unit ids by path. Users have only the path of their unit, but the id is stable. */
const unitIds = async (ctx: Ctx): Promise<Map<string, string>> =>
  new Map((await readOrgUnits(ctx)).map((one) => [one.orgUnitPath, one.orgUnitId]))

const place = (user: User, ids: ReadonlyMap<string, string>): Association[] => {
  const unit = ids.get(user.orgUnitPath ?? '')
  return unit === undefined ? [] : [held(user.id, PLACE, unit)]
}

const inGroup = (member: Member, group: string): Association[] =>
  isUser(member) ? [held(member.id, member.role, group)] : []

const roleOf = (one: RoleAssignment): Association[] =>
  isUsers(one) ? [held(one.assignedTo, one.roleId, placeOf(one))] : []
