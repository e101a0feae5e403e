/** Associations of users with entitlements. */
import { type Input, keyPage, type Output, type Paged, paged } from 'keyway/sdk'
import { readUser, readUsers, type User } from './accounts.ts'
import { ADMIN_ID, SERVER } from './entitlements.ts'
import { type Held, readGrants, readGrantsOfAll } from './privileges.ts'
import type { Ctx } from './service.ts'

type Association = Output<'find_entitlement_associations'>[number]

/** Number of users per page if the caller requests no page size. */
const PAGE_SIZE = 200

/** Returns the associations of one page of users. */
export async function findAssociations(ctx: Ctx): Promise<Paged<Association[]>> {
  const page = keyPage(ctx, await readUsers(ctx), ({ name }) => name, PAGE_SIZE)
  const names = page.response.map(({ name }) => name)
  const held = await readGrantsOfAll(ctx, names)
  return paged(
    page.response.flatMap((user) => associationsOf(user, held.get(user.name))),
    page.cursor,
  )
}

/** Returns all associations of one user. */
export async function getAccountAssociations(
  request: Input<'get_account_entitlement_associations'>,
  ctx: Ctx,
): Promise<Association[]> {
  const user = await readUser(ctx, request.account_id)
  const held = await readGrants(ctx, user.name)
  ctx.raw({ user, held })
  return associationsOf(user, held)
}

/** Returns a user's associations. `held` is undefined for a user who was dropped in the meantime. */
function associationsOf({ name, admin }: User, held: readonly Held[] | undefined): Association[] {
  if (held === undefined) return []
  const administrator = admin ? [association(name, ADMIN_ID, SERVER)] : []
  const privileges = held.flatMap(({ database, privileges: names }) =>
    names.map((privilege) => association(name, privilege, database)),
  )
  return [...administrator, ...privileges]
}

const association = (account: string, entitlement: string, resource: string): Association => ({
  account_id: account,
  integration_specific_entitlement_id: entitlement,
  integration_specific_resource_id: resource,
})
