/** Reads, grants and revokes role memberships. */
import {
  ConnectorError,
  flagOf,
  type Input,
  keysCursor,
  nameOf,
  type Output,
  type Paged,
  paged,
  rowsPage,
  textOf,
} from 'keyway/sdk'
import { readAccount } from './accounts.ts'
import { readRole, requireGrantable } from './roles.ts'
import { type Ctx, sizeOf } from './rows.ts'
import { endSessions } from './switching.ts'

type Association = Output<'find_entitlement_associations'>[number]

/**
 * Returns one page of memberships, ordered by account and role. An account without any has a row as well, so
 * that a page reads no further than its accounts. Otherwise every page would read all memberships again.
 */
export async function findAssociations(ctx: Ctx): Promise<Paged<Association[]>> {
  const size = sizeOf(ctx)
  const [account, role] = keysCursor(ctx, ['', ''])
  const { rows } = await ctx.sql.query('memberships', [isEffective(ctx), account, role, size])
  ctx.raw(rows)
  const { response, cursor } = rowsPage(
    rows,
    size,
    (row) => {
      const of = textOf(row, 'role')
      return of === null ? [] : [association(nameOf(row, 'account'), of)]
    },
    (last) => [nameOf(last, 'account'), textOf(last, 'role') ?? ''],
  )
  return paged(response.flat(), cursor)
}

/** Returns all roles that one account is a member of. */
export async function getAccountAssociations(
  request: Input<'get_account_entitlement_associations'>,
  ctx: Ctx,
): Promise<Association[]> {
  const account = nameOf(await readAccount(ctx, request.account_id), 'rolname')
  const roles = await rolesOf(ctx, account, isEffective(ctx))
  ctx.raw(roles)
  return roles.map((role) => association(account, role))
}

/**
 * Makes an account a member of a role. Repeating it is not an error. An existing grant with neither INHERIT
 * nor SET (PostgreSQL 16 and later) keeps these options and has no effect, so the role is granted again with
 * SET, and also with INHERIT if the account inherits.
 */
export async function assignEntitlement(
  request: Input<'assign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'assign_entitlement'>> {
  const { account_integration_specific_id: id, entitlement_integration_specific_id: of } = request
  const account = nameOf(await readAccount(ctx, id), 'rolname')
  const role = await readRole(ctx, of)
  requireGrantable(role)
  await ctx.sql.execute('grant', [], { account, role })
  const { rows } = await ctx.sql.query('usable', [account, role])
  for (const row of rows)
    if (!flagOf(row, 'usable')) {
      const statement = flagOf(row, 'inherits') ? 'grant_inherited' : 'grant_settable'
      await ctx.sql.execute(statement, [], { account, role })
    }
  return { assigned: true }
}

/**
 * Revokes a membership. Revoking one that is not held is not an error. A session with the role enabled (`SET
 * ROLE`) would keep it, so the account's connections are ended.
 *
 * @throws `permission_denied` if another role granted it; with effective associations,
 * `unsupported_operation` for a membership that comes through another role
 */
export async function unassignEntitlement(
  request: Input<'unassign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'unassign_entitlement'>> {
  const { account_integration_specific_id: id, entitlement_integration_specific_id: of } = request
  const row = await readAccount(ctx, id)
  const account = nameOf(row, 'rolname')
  const role = await readRole(ctx, of)
  await ctx.sql.execute('revoke', [], { account, role })
  // Since PostgreSQL 16, REVOKE affects only the grants that the current role made. Grants of other roles
  // must be named individually.
  const { rows } = await ctx.sql.query('grantors', [account, role])
  for (const one of rows)
    await ctx.sql.execute('revoke_of', [], { account, role, grantor: nameOf(one, 'grantor') })
  const isHeld = (await rolesOf(ctx, account, true)).includes(role)
  // Also if it was not held: an earlier call may have been interrupted after the revocation. The connector's
  // own connections carry out this call.
  if (!isHeld && !flagOf(row, 'own')) await endSessions(ctx, row)
  if (isHeld && isEffective(ctx))
    throw new ConnectorError(
      'unsupported_operation',
      `The account is still a member of ${role} through another role, and can only be taken out of that one`,
      { app_error_code: 'held_in_another_way' },
    )
  return { unassigned: true }
}

const isEffective = (ctx: Ctx): boolean => ctx.settings.associations === 'effective'

async function rolesOf(ctx: Ctx, account: string, effective: boolean): Promise<string[]> {
  const { rows } = await ctx.sql.query('memberships_of', [effective, account])
  return rows.map((row) => nameOf(row, 'role'))
}

const association = (account_id: string, role: string): Association => ({
  account_id,
  integration_specific_entitlement_id: role,
  integration_specific_resource_id: '',
})
