/**
 * Grants and revokes entitlements. The roles of a member can only be written whole, so every change reads,
 * modifies and writes. `limits.concurrency` is 1 so that two such changes do not interleave.
 */
import { ConnectorError, hasCode, type Input, type Output, path } from 'keyway/sdk'
import { type Membership, readUser, type WholeUser } from './accounts.ts'
import { isDirect } from './associations.ts'
import { ADMINISTRATOR, GROUP, type Grant, grantOf } from './entitlements.ts'
import { refuseOwnAccount, whoAmI } from './own.ts'
import { type Ctx, NO_ADMINISTRATOR, readList, service } from './service.ts'

/** Grants administration, a group or a role. Granting it again changes nothing. */
export async function assignEntitlement(
  request: Input<'assign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'assign_entitlement'>> {
  await addGrant(ctx, request.account_integration_specific_id, requested(request))
  return { assigned: true }
}

/**
 * Grants an entitlement to a user.
 *
 * @throws `not_found` if the user, group, role or project is unknown
 */
export async function addGrant(ctx: Ctx, id: string, grant: Grant): Promise<void> {
  const user = await readUser(ctx, id, 'groups,memberships')
  const api = service(ctx)
  if (grant.type === ADMINISTRATOR) {
    if (!user.admin) await api.put(path`/users/${id}.json`, { user: { admin: true } })
  } else if (grant.type === GROUP) {
    // Redmine answers 422 if the user is already in the group.
    if (!isIn(user, grant.group))
      await api.post(path`/groups/${grant.group}/users.json`, { user_id: user.id })
  } else {
    const { membership, roles } = await rolesIn(ctx, user, grant)
    if (roles.includes(grant.role)) return
    const role_ids = [...roles, grant.role]
    if (membership === undefined)
      await withClosedProject(
        ctx,
        api.post(path`/projects/${grant.project}/memberships.json`, {
          membership: { user_id: user.id, role_ids },
        }),
      )
    else await setRoles(ctx, membership, role_ids)
  }
}

/**
 * Revokes administration, a group or a role. Revoking one that is not held is not an error.
 *
 * @throws `unsupported_operation` for a role inherited from a group or the parent project, which must be
 * revoked there
 */
export async function unassignEntitlement(
  request: Input<'unassign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'unassign_entitlement'>> {
  const id = request.account_integration_specific_id
  const grant = requested(request)
  const user = await readUser(ctx, id, 'groups,memberships')
  if (grant.type === ADMINISTRATOR) {
    await refuseOwnAccount(ctx, id, 'stops being an administrator')
    if (user.admin) await service(ctx).put(path`/users/${id}.json`, { user: { admin: false } })
  } else if (grant.type === GROUP) {
    await service(ctx).delete(path`/groups/${grant.group}/users/${id}.json`)
  } else {
    await takeRole(ctx, user, grant)
  }
  return { unassigned: true }
}

async function takeRole(ctx: Ctx, user: WholeUser, grant: RoleGrant): Promise<void> {
  const { membership, roles } = await rolesIn(ctx, user, grant)
  if (membership === undefined) return
  const inherited = membership.roles.filter((one) => !isDirect(one)).map(({ id }) => id)
  const holds = roles.includes(grant.role)
  // Redmine keeps an inherited role, and the user's own one with it.
  if (inherited.includes(grant.role) && (holds || ctx.settings.associations === 'effective'))
    throw new ConnectorError(
      'unsupported_operation',
      'The role also comes by a group of the user or from the project above. Take that first',
      { app_error_code: 'held_in_another_way' },
    )
  if (!holds) return
  const rest = roles.filter((role) => role !== grant.role)
  if (rest.length > 0 || inherited.length > 0) await setRoles(ctx, membership, rest)
  else await withClosedProject(ctx, service(ctx).delete(path`/memberships/${membership.id}.json`))
}

type RoleGrant = Extract<Grant, { type: 'PROJECT_ROLE' }>

/** Returns the user's membership in the project and the roles granted to the user directly. */
async function rolesIn(
  ctx: Ctx,
  user: WholeUser,
  { project, role }: RoleGrant,
): Promise<{ membership: Membership | undefined; roles: number[] }> {
  // Redmine ignores unknown roles, and reports an error only if no role is left.
  const known = await readList<{ id: number }>(ctx, 'roles')
  if (!known.some(({ id }) => id === role))
    throw new ConnectorError('not_found', `There is no role ${role}`)
  const membership = user.memberships?.find((one) => String(one.project.id) === project)
  if (membership === undefined)
    await withClosedProject(ctx, service(ctx).get(path`/projects/${project}.json`))
  return { membership, roles: (membership?.roles ?? []).filter(isDirect).map(({ id }) => id) }
}

/** Writes the direct roles of a member. Inherited roles stay. */
const setRoles = (ctx: Ctx, { id }: Membership, role_ids: number[]) =>
  withClosedProject(
    ctx,
    service(ctx).put(path`/memberships/${id}.json`, { membership: { role_ids } }),
  )

/**
 * Converts the error of a request to a closed or archived project. Redmine answers 403 even to
 * administrators: to any change in a closed project, and to every request in an archived one.
 *
 * @throws `unsupported_operation` with the code `project_closed`
 */
async function withClosedProject<T>(ctx: Ctx, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!hasCode(error, 'permission_denied') || error.status_code !== 403) throw error
    if ((await whoAmI(ctx)).admin !== true) throw error
    const { message, status_code, raised_by } = error
    throw new ConnectorError(
      'unsupported_operation',
      `${message.replace(NO_ADMINISTRATOR, '')}The project is closed or archived, so nobody can change who holds its roles. Reopen it first`,
      { status_code, raised_by, app_error_code: 'project_closed' },
    )
  }
}

const isIn = ({ groups = [] }: WholeUser, group: string): boolean =>
  groups.some(({ id }) => String(id) === group)

const requested = (request: Input<'assign_entitlement'>): Grant =>
  grantOf(
    request.entitlement_type,
    request.entitlement_integration_specific_id,
    request.resource_integration_specific_id,
  )
