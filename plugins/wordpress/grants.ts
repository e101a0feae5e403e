/**
 * Grants and revokes roles. The roles of a user can only be written whole, so every change reads, modifies
 * and writes. `limits.concurrency` is 1 so that two such changes do not interleave.
 */
import { ConnectorError, type Input, type Output } from 'keyway/sdk'
import { readUser, routeOf, type User } from './accounts.ts'
import { ADMINISTRATOR, roleOf } from './entitlements.ts'
import { refuseProtectedUser } from './guards.ts'
import { ask, type Ctx } from './service.ts'

/**
 * Grants a role. Granting it again changes nothing.
 *
 * @throws `not_found` if the user or role is unknown
 */
export async function assignEntitlement(
  request: Input<'assign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'assign_entitlement'>> {
  const { role, user } = await asked(request, ctx)
  if (!user.roles.includes(role)) await setRoles(ctx, user, [...user.roles, role])
  return { assigned: true }
}

/**
 * Revokes a role. Revoking one that is not held is not an error. A user without roles may still sign in, but
 * has no rights.
 *
 * @throws `unsupported_operation` for the connector's own account and for the last administrator
 */
export async function unassignEntitlement(
  request: Input<'unassign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'unassign_entitlement'>> {
  const { role, user } = await asked(request, ctx)
  if (!user.roles.includes(role)) return { unassigned: true }
  if (role === ADMINISTRATOR) await refuseProtectedUser(ctx, user, 'stops being an administrator')
  await setRoles(
    ctx,
    user,
    user.roles.filter((one) => one !== role),
  )
  return { unassigned: true }
}

async function asked(request: Input<'assign_entitlement'>, ctx: Ctx) {
  const role = roleOf(
    request.entitlement_type,
    request.entitlement_integration_specific_id,
    request.resource_integration_specific_id,
  )
  return { role, user: await readUser(ctx, request.account_integration_specific_id) }
}

async function setRoles(ctx: Ctx, { id }: User, roles: string[]): Promise<void> {
  const { roles: now } = await withUnknownRole(
    ask<{ roles: string[] }>(ctx, 'POST', routeOf(String(id)), {
      query: { _fields: 'roles' },
      json: { roles },
    }),
  )
  requireRoles(now, roles)
}

/**
 * Waits for roles to be written, and converts the error for an unknown role.
 *
 * @throws `not_found` if WordPress refuses a role because it does not exist
 */
export async function withUnknownRole<T>(write: Promise<T>): Promise<T> {
  try {
    return await write
  } catch (error) {
    if (
      !(error instanceof ConnectorError) ||
      error.app_error_code !== 'rest_user_invalid_role' ||
      error.status_code !== 400
    )
      throw error
    throw new ConnectorError('not_found', error.message, error)
  }
}

/**
 * Checks that the user has exactly the roles that were written.
 *
 * @throws `api_error` if a plugin has changed them
 */
export function requireRoles(now: readonly string[] | undefined, wanted: readonly string[]): void {
  if (now?.length === wanted.length && wanted.every((role) => now.includes(role))) return
  throw new ConnectorError(
    'api_error',
    `WordPress took the roles ${wanted.join(', ') || '(none)'}, and the user now has ${now?.join(', ') || '(none)'}: a plugin of the site may decide on them`,
  )
}
