/** Reads users and their last sign-ins. */
import { chain, type Input, ifThere, inParallel, mapped, type Output, type Paged } from 'keyway/sdk'
import { type Ctx, listing } from './service.ts'
import { readUser, toAccount, type User } from './users.ts'

/** Returns one page of users. Okta leaves out deprovisioned ones. */
export const listAccounts = (
  request: Input<'list_accounts'>,
  ctx: Ctx,
): Promise<Paged<Output<'list_accounts'>>> =>
  chain<Output<'get_account'>>(ctx, {
    users: mapped(listing<User>(ctx, '/users'), (user) => [
      toAccount(user, request.custom_attributes),
    ]),
  })

/** Returns one user by id. */
export async function getAccount(
  request: Input<'get_account'>,
  ctx: Ctx,
): Promise<Output<'get_account'>> {
  const user = await readUser(ctx, request.account_id)
  ctx.raw(user)
  return toAccount(user, request.custom_attributes)
}

/** Returns the last sign-in of each user. Unknown users and those who never signed in are left out. */
export async function getLastActivity(
  { account_ids }: Input<'get_last_activity'>,
  ctx: Ctx,
): Promise<Output<'get_last_activity'>> {
  const users = await inParallel(account_ids, (id) => ifThere(readUser(ctx, id)))
  return users.flatMap((user) =>
    user?.lastLogin
      ? [{ account_id: user.id, event_type: 'last_login', happened_at: user.lastLogin }]
      : [],
  )
}
