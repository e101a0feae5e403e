/** Associations of users with entitlements. */
import { chain, type Input, mapped, type Output, type Paged } from 'keyway/sdk'
import { readUser, type User, usersOf } from './accounts.ts'
import { heldBy } from './entitlements.ts'
import type { Ctx } from './service.ts'

type Association = Output<'find_entitlement_associations'>[number]

/** Returns the roles and capabilities of one page of users. */
export const findAssociations = (ctx: Ctx): Promise<Paged<Association[]>> =>
  chain<Association>(ctx, { users: mapped(usersOf(ctx), associationsOf) })

/** Returns all associations of one user. */
export async function getAccountAssociations(
  { account_id: id }: Input<'get_account_entitlement_associations'>,
  ctx: Ctx,
): Promise<Association[]> {
  const user = await readUser(ctx, id)
  ctx.raw({ roles: user.roles, extra_capabilities: user.extra_capabilities })
  return associationsOf(user)
}

const associationsOf = (user: User): Association[] =>
  heldBy(user).map((id) => ({
    account_id: String(user.id),
    integration_specific_entitlement_id: id,
    integration_specific_resource_id: '',
  }))
