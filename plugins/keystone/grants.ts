/** Grants and revokes groups and roles. */
import { ConnectorError, hasCode, type Input, ifThere, type Output, path } from 'keyway/sdk'
import { readUser } from './accounts.ts'
import { addressOf, type Grant, grantOf } from './entitlements.ts'
import { refuseOwnRole } from './own.ts'
import { type Ctx, readList, service } from './service.ts'
import type { Assignment } from './system-roles.ts'

/** Grants a group or a role. Granting it again changes nothing. */
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
 * @throws `not_found` if the user, group, role or place is unknown
 */
export async function addGrant(ctx: Ctx, user: string, grant: Grant): Promise<void> {
  await service(ctx).put(addressOf(grant, user))
}

/**
 * Revokes a group or a role. Revoking one that is not held is not an error.
 *
 * @throws `unsupported_operation` if the user still holds the role in another way, which must be revoked
 * instead; also for the role that the connector itself needs
 */
export async function unassignEntitlement(
  request: Input<'unassign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'unassign_entitlement'>> {
  const user = request.account_integration_specific_id
  const grant = requested(request)
  await refuseOwnRole(ctx, user, grant)
  try {
    await service(ctx).delete(addressOf(grant, user))
  } catch (error) {
    if (!hasCode(error, 'not_found')) throw error
    await mustExist(ctx, user, grant)
  }
  await mustBeRevoked(ctx, user, grant)
  return { unassigned: true }
}

const requested = (request: Input<'assign_entitlement'>): Grant =>
  grantOf(
    request.entitlement_type,
    request.entitlement_integration_specific_id,
    request.resource_integration_specific_id,
  )

/**
 * Checks that the user and the grant's objects exist. Keystone also answers not found if the grant is just
 * not held.
 */
async function mustExist(ctx: Ctx, user: string, grant: Grant): Promise<void> {
  const api = service(ctx)
  await readUser(ctx, user)
  if (grant.type === 'GROUP') await api.get(path`/groups/${grant.group}`)
  else {
    await api.get(path`/roles/${grant.role}`)
    if (isInDomain(grant)) await api.get(path`/domains/${grant.place}`)
    else if (grant.place !== '') await api.get(path`/projects/${grant.place}`)
  }
}

const isInDomain = ({ type }: Grant): boolean =>
  type === 'DOMAIN_ROLE' || type === 'INHERITED_DOMAIN_ROLE'

/**
 * Checks that the role is no longer effective. The user may still hold it through a group, an ancestor domain
 * or project, or another role.
 */
async function mustBeRevoked(ctx: Ctx, user: string, grant: Grant): Promise<void> {
  if (ctx.settings.associations === 'direct') return
  if (grant.type !== 'PROJECT_ROLE' && grant.type !== 'DOMAIN_ROLE') return
  const { role, place } = grant
  const scope = isInDomain(grant) ? 'scope.domain.id' : 'scope.project.id'
  const query = { effective: 'true', 'user.id': user, 'role.id': role, [scope]: place }
  const held = await ifThere(readList<Assignment>(ctx, '/role_assignments', query))
  const [way] = held ?? []
  if (way === undefined) return
  throw new ConnectorError(
    'unsupported_operation',
    `The role is held ${sourceOf(way)} and cannot be taken from the user alone`,
    { app_error_code: 'held_in_another_way' },
  )
}

function sourceOf({ links = {} }: Assignment): string {
  const group = /\/groups\/([^/]+)\/users\//.exec(links.membership ?? '')?.[1]
  if (group !== undefined) return `by the group ${group}`
  if (links.prior_role !== undefined) return 'with another role that implies it'
  return 'from a domain or project above'
}
