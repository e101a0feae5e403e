/** Grants and revokes entitlements. */
import {
  allItems,
  ConnectorError,
  hasCode,
  type Input,
  ifThere,
  type Output,
  path,
} from 'keyway/sdk'
import { giveRole, placeOf, type RoleAssignment, roleAssignments, takeRole } from './admin-roles.ts'
import { type Grant, grantOf } from './entitlements.ts'
import type { Member } from './groups.ts'
import type { License } from './licenses.ts'
import { readOrgUnit } from './org-units.ts'
import { refuseOwnAccount } from './own.ts'
import { type Ctx, directory, licensing } from './service.ts'
import { readUser } from './users.ts'

type Of<T extends Grant['type']> = Extract<Grant, { type: T }>

/** Grants an entitlement. Granting it again changes nothing. */
export async function assignEntitlement(
  request: Input<'assign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'assign_entitlement'>> {
  await give(ctx, request.account_integration_specific_id, requested(request))
  return { assigned: true }
}

/** Revokes an entitlement. Revoking one that is not held is not an error. */
export async function unassignEntitlement(
  request: Input<'unassign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'unassign_entitlement'>> {
  const user = request.account_integration_specific_id
  const grant = requested(request)
  await perform(TAKE, ctx, user, grant)
  return { unassigned: true }
}

const requested = (request: Input<'assign_entitlement'>): Grant =>
  grantOf(
    request.entitlement_type,
    request.entitlement_integration_specific_id,
    request.resource_integration_specific_id,
  )

/**
 * Grants an entitlement to a user.
 *
 * @throws `not_found` if the user, group, unit, licence or role is unknown
 */
export const give = (ctx: Ctx, user: string, grant: Grant): Promise<void> =>
  perform(GIVE, ctx, user, grant)

/**
 * Runs the row of a table for the grant's type. The cast is safe: each row takes grants of the type in its
 * key.
 */
const perform = (table: Record<Grant['type'], Change>, ctx: Ctx, user: string, grant: Grant) =>
  table[grant.type](ctx, user, grant as never)

type Change = (ctx: Ctx, user: string, grant: never) => Promise<void>

const GIVE: Record<Grant['type'], Change> = {
  async GROUP_ROLE(ctx, user, { group, role }: Of<'GROUP_ROLE'>) {
    const member = await readMember(ctx, group, user)
    if (member?.role === role) return
    // A user has one role per group, so an existing role is replaced.
    if (member) await directory(ctx).patch(memberAt(group, user), { role })
    else await directory(ctx).post(path`/groups/${group}/members`, { id: user, role })
  },
  async ORG_UNIT_MEMBERSHIP(ctx, user, { orgUnit }: Of<'ORG_UNIT_MEMBERSHIP'>) {
    const { orgUnitPath } = await readOrgUnit(ctx, orgUnit)
    await directory(ctx).patch(path`/users/${user}`, { orgUnitPath })
  },
  async LICENSE(ctx, user, { license }: Of<'LICENSE'>) {
    const { primaryEmail } = await readUser(ctx, user)
    if ((await ifThere(licensing(ctx).get(licenseAt(license, primaryEmail)))) !== null) return
    const { product, sku } = license
    await licensing(ctx).post(path`/product/${product}/sku/${sku}/user`, { userId: primaryEmail })
  },
  async ADMIN_ROLE(ctx, user, grant: Of<'ADMIN_ROLE'>) {
    if ((await readAssignment(ctx, user, grant)) === undefined) await giveRole(ctx, user, grant)
  },
}

const TAKE: Record<Grant['type'], Change> = {
  async GROUP_ROLE(ctx, user, { group, role }: Of<'GROUP_ROLE'>) {
    const member = await readMember(ctx, group, user)
    if (member?.role === role) await ifThere(directory(ctx).delete(memberAt(group, user)))
    else if (member === null) await mustExist(ctx, user, group)
  },
  async ORG_UNIT_MEMBERSHIP(ctx, user, { orgUnit }: Of<'ORG_UNIT_MEMBERSHIP'>) {
    const { orgUnitPath } = await readOrgUnit(ctx, orgUnit)
    if ((await readUser(ctx, user)).orgUnitPath !== orgUnitPath) return
    throw new ConnectorError(
      'unsupported_operation',
      'Everybody is in one organisational unit: assign another one instead',
      { app_error_code: 'needs_a_unit' },
    )
  },
  async LICENSE(ctx, user, { license }: Of<'LICENSE'>) {
    const { primaryEmail } = await readUser(ctx, user)
    await ifThere(licensing(ctx).delete(licenseAt(license, primaryEmail)))
  },
  async ADMIN_ROLE(ctx, user, grant: Of<'ADMIN_ROLE'>) {
    const assignment = await readAssignment(ctx, user, grant)
    if (assignment === undefined) return
    // Google does not say which of the administrator's roles the connector depends on, so none is revoked.
    await refuseOwnAccount(ctx, assignment.assignedTo, 'has lost this role')
    await ifThere(takeRole(ctx, assignment))
  },
}

const memberAt = (group: string, user: string) => path`/groups/${group}/members/${user}`

const licenseAt = ({ product, sku }: License, email: string) =>
  path`/product/${product}/sku/${sku}/user/${email}`

/**
 * Returns a group member, or null. For a user who is not in the group, Google answers not found or an invalid
 * member key.
 */
async function readMember(ctx: Ctx, group: string, user: string): Promise<Member | null> {
  try {
    return await directory(ctx).get<Member>(memberAt(group, user))
  } catch (error) {
    if (hasCode(error, 'not_found')) return null
    if (hasCode(error, 'bad_request') && error.message.includes('memberKey')) return null
    throw error
  }
}

async function mustExist(ctx: Ctx, user: string, group: string): Promise<void> {
  await readUser(ctx, user)
  await directory(ctx).get(path`/groups/${group}`)
}

/** Returns the assignment of a role, if the user holds it in exactly this unit or for the whole customer. */
async function readAssignment(
  ctx: Ctx,
  user: string,
  { role, orgUnit }: Of<'ADMIN_ROLE'>,
): Promise<RoleAssignment | undefined> {
  const { id } = await readUser(ctx, user)
  const all = await allItems(roleAssignments(ctx, id))
  return all.find((one) => one.roleId === role && one.assignedTo === id && placeOf(one) === orgUnit)
}
