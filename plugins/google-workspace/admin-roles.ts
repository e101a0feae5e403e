/** Administrator roles, held for the whole customer or for an organisational unit and the units below it. */
import { type Listing, path } from 'keyway/sdk'
import { type Ctx, customer, directory, listing } from './service.ts'

export type Role = {
  roleId: string
  roleName: string
  roleDescription?: string
  isSuperAdminRole?: boolean
}

export type RoleAssignment = {
  roleAssignmentId: string
  roleId: string
  assignedTo: string
  /** `user` or `group`: groups hold roles, too. */
  assigneeType?: string
  scopeType?: string
  /** Id without the prefix `id:` that it has elsewhere. */
  orgUnitId?: string
}

const MAX_ROLES = 100
const MAX_ASSIGNMENTS = 200

const at = (ctx: Ctx, what: 'roles' | 'roleassignments') => path`/customer/${customer(ctx)}/${what}`

export const roles = (ctx: Ctx): Listing<Role> =>
  ctx.settings.admin_roles
    ? listing<Role>(directory(ctx), { path: at(ctx, 'roles'), items: 'items', most: MAX_ROLES })
    : () => []

/** Lists the role assignments of one user, or of everyone. */
export const roleAssignments = (ctx: Ctx, user?: string): Listing<RoleAssignment> =>
  ctx.settings.admin_roles
    ? listing<RoleAssignment>(directory(ctx), {
        path: at(ctx, 'roleassignments'),
        items: 'items',
        most: MAX_ASSIGNMENTS,
        query: user === undefined ? {} : { userKey: user },
      })
    : () => []

export const isUsers = ({ assigneeType }: RoleAssignment): boolean =>
  (assigneeType ?? 'user').toLowerCase() === 'user'

/**
 * Returns the id of the unit that an assignment applies to, with the prefix `id:`, or an empty text if it
 * applies to the whole customer.
 */
export const placeOf = ({ scopeType, orgUnitId }: RoleAssignment): string =>
  scopeType === 'ORG_UNIT' && orgUnitId ? `id:${orgUnitId.replace(/^id:/, '')}` : ''

/** Assigns a role. */
export async function giveRole(
  ctx: Ctx,
  user: string,
  { role, orgUnit }: { role: string; orgUnit: string },
): Promise<void> {
  await directory(ctx).post(at(ctx, 'roleassignments'), {
    roleId: role,
    assignedTo: user,
    ...(orgUnit === ''
      ? { scopeType: 'CUSTOMER' }
      : { scopeType: 'ORG_UNIT', orgUnitId: orgUnit.replace(/^id:/, '') }),
  })
}

export const takeRole = (ctx: Ctx, assignment: RoleAssignment): Promise<unknown> =>
  directory(ctx).delete(
    path`/customer/${customer(ctx)}/roleassignments/${assignment.roleAssignmentId}`,
  )
