/**
 * Grants and revokes entitlements. A GRANT replaces the user's privileges on the database, so they are read
 * first. `limits.concurrency` is 1 so that two such changes do not interleave. A REVOKE removes only what it
 * names.
 */
import type { Input, Output } from 'keyway/sdk'
import { refuseOwnAccount } from './accounts.ts'
import { type Grant, grantOf, PRIVILEGE_NAMES, type Privilege } from './entitlements.ts'
import { identifier } from './influxql.ts'
import { readGrants } from './privileges.ts'
import { type Ctx, change } from './service.ts'

/** Grants administration or a privilege. Granting it again changes nothing. */
export async function assignEntitlement(
  request: Input<'assign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'assign_entitlement'>> {
  const name = request.account_integration_specific_id
  const grant = requested(request)
  if (grant.type === 'ADMINISTRATOR')
    await change(ctx, `GRANT ALL PRIVILEGES TO ${identifier(name)}`)
  else await grantPrivileges(ctx, name, grant.database, [grant.privilege])
  return { assigned: true }
}

/** Revokes administration or a privilege. Revoking one that is not held is not an error. */
export async function unassignEntitlement(
  request: Input<'unassign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'unassign_entitlement'>> {
  const name = request.account_integration_specific_id
  const grant = requested(request)
  const from = `FROM ${identifier(name)}`
  if (grant.type === 'ADMINISTRATOR') {
    refuseOwnAccount(ctx, name, 'stops being an administrator')
    await change(ctx, `REVOKE ALL PRIVILEGES ${from}`)
  } else {
    await change(ctx, `REVOKE ${grant.privilege} ON ${identifier(grant.database)} ${from}`)
  }
  return { unassigned: true }
}

/**
 * Grants privileges on a database and keeps those that the user already has.
 *
 * @throws `not_found` if the user or database is unknown
 */
export async function grantPrivileges(
  ctx: Ctx,
  name: string,
  database: string,
  privileges: readonly Privilege[],
): Promise<void> {
  const held = (await readGrants(ctx, name)).find((one) => one.database === database)
  const before = held?.privileges ?? []
  const after = PRIVILEGE_NAMES.filter((one) => before.includes(one) || privileges.includes(one))
  if (after.length === before.length) return
  const words = after.length === PRIVILEGE_NAMES.length ? 'ALL PRIVILEGES' : after[0]
  await change(ctx, `GRANT ${words} ON ${identifier(database)} TO ${identifier(name)}`)
}

const requested = (request: Input<'assign_entitlement'>): Grant =>
  grantOf(
    request.entitlement_type,
    request.entitlement_integration_specific_id,
    request.resource_integration_specific_id,
  )
