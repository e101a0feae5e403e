/** Associations of users with entitlements. */
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
/** Member of a project: a user, or a group whose users inherit its roles. */
type Member = { id: number; user?: Named; project: Named; roles: MemberRole[] }

/**
 * Returns one page of associations: administrators, group members, then the roles of users in every project.
 */
export function findAssociations(ctx: Ctx): Promise<Paged<Association[]>> {
  // Few users are administrators, so full pages are read regardless of the requested size.
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

/** Returns all associations of one user. */
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

/** Returns the members of a group. A group that was deleted in the meantime has none. */
async function membersOf(ctx: Ctx, { id }: Named): Promise<Association[]> {
  const answer = await ifThere(
    service(ctx).get<{ group: { users?: Named[] } }>(path`/groups/${id}.json`, {
      query: { include: 'users' },
    }),
  )
  return (answer?.group.users ?? []).map((user) => held(user.id, String(id)))
}

/** Returns the roles in one project. Redmine lists a role that is held in two ways twice. */
function rolesOf(
  ctx: Ctx,
  user: number,
  project: number,
  roles: readonly MemberRole[],
): Association[] {
  const selected = ctx.settings.associations === 'effective' ? roles : roles.filter(isDirect)
  return [...new Set(selected.map(({ id }) => String(id)))].map((role) =>
    held(user, role, String(project)),
  )
}

/** Reports whether a role is direct, and not inherited from a group or the parent project. */
export const isDirect = ({ inherited }: MemberRole): boolean => inherited !== true

const held = (user: number, entitlement: string, resource = WHOLE): Association => ({
  account_id: String(user),
  integration_specific_entitlement_id: entitlement,
  integration_specific_resource_id: resource,
})
