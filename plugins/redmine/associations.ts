/** Who holds what. */
import {
  chain,
  type Input,
  ifThere,
  type Listing,
  mapped,
  nested,
  type Output,
  type Paged,
  path,
} from 'keyway/sdk'
import { type MemberRole, type Named, readUser, type Status, usersOf } from './accounts.ts'
import { ADMIN_ID, projectsOf, readGroups, WHOLE } from './entitlements.ts'
import { type Ctx, pagesOf, service } from './service.ts'

type Association = Output<'find_entitlement_associations'>[number]
/** A member of a project: a user, or a group, whose roles its users inherit. */
type Member = { id: number; user?: Named; project: Named; roles: MemberRole[] }

/** Administrators, members of groups, then the roles of users in every project. */
export function findAssociations(ctx: Ctx): Promise<Paged<Association[]>> {
  // Few users are administrators: whole pages are read, whatever size is asked for.
  const administrators = (status: Status): Listing<Association> => {
    const users = usersOf(ctx, status)
    return mapped(
      ({ cursor }) => users({ cursor, size: null }),
      ({ id, admin }) => (admin ? [held(id, ADMIN_ID)] : []),
    )
  }
  return chain<Association>(ctx, {
    administrators: administrators('ACTIVE'),
    locked: administrators('SUSPENDED'),
    groups: nested(
      () => readGroups(ctx),
      (group) => () => membersOf(ctx, group),
    ),
    roles: nested(projectsOf(ctx), ({ id }) =>
      mapped(
        pagesOf<Member>(ctx, path`/projects/${id}/memberships.json`, 'memberships'),
        ({ user, project, roles }) => (user ? rolesOf(ctx, user.id, project.id, roles) : []),
      ),
    ),
  })
}

/** All that one user holds. */
export async function getAccountAssociations(
  { account_id: id }: Input<'get_account_entitlement_associations'>,
  ctx: Ctx,
): Promise<Association[]> {
  const user = await readUser(ctx, id, 'groups,memberships')
  const { admin, groups = [], memberships = [] } = user
  ctx.raw({ admin, groups, memberships })
  return [
    ...(admin ? [held(user.id, ADMIN_ID)] : []),
    ...groups.map((group) => held(user.id, String(group.id))),
    ...memberships.flatMap(({ project, roles }) => rolesOf(ctx, user.id, project.id, roles)),
  ]
}

/** A group that was deleted meanwhile has no members. */
async function membersOf(ctx: Ctx, { id }: Named): Promise<Association[]> {
  const answer = await ifThere(
    service(ctx).get<{ group: { users?: Named[] } }>(path`/groups/${id}.json`, {
      query: { include: 'users' },
    }),
  )
  return (answer?.group.users ?? []).map((user) => held(user.id, String(id)))
}

/** Roles in one project; Redmine names one twice that is held in two ways. */
function rolesOf(
  ctx: Ctx,
  user: number,
  project: number,
  roles: readonly MemberRole[],
): Association[] {
  const told = ctx.settings.associations === 'effective' ? roles : roles.filter(isDirect)
  return [...new Set(told.map(({ id }) => String(id)))].map((role) =>
    held(user, role, String(project)),
  )
}

/** Whether a role was given to the user itself: not by a group, nor by the project above. */
export const isDirect = ({ inherited }: MemberRole): boolean => inherited !== true

const held = (user: number, entitlement: string, resource = WHOLE): Association => ({
  account_id: String(user),
  integration_specific_entitlement_id: entitlement,
  integration_specific_resource_id: resource,
})
