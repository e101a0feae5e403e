/** Reading accounts, and switching them on and off. */
import { ConnectorError, type Input, mapped, type Output, type Page, path } from 'keyway/sdk'
import { mustNotBeOwn } from './own.ts'
import { type Ctx, listing, patch, service } from './service.ts'
import { idOf, statusOf, toAccount, type User } from './users.ts'

/** Users asked for when the caller names no page size; most services give no more at once. */
const USERS_PER_PAGE = 100

/** One page of users. Inactive ones are suspended: SCIM has no other kind of switched off. */
export async function listAccounts(
  request: Input<'list_accounts'>,
  ctx: Ctx,
): Promise<Page<Output<'list_accounts'>[number]>> {
  const users = listing<User>(ctx, '/Users', { size: USERS_PER_PAGE })
  return mapped(users, (user) => [toAccount(user, request.custom_attributes)])(ctx.page)
}

/** One user by id. */
export async function getAccount(
  request: Input<'get_account'>,
  ctx: Ctx,
): Promise<Output<'get_account'>> {
  const user = await readUser(ctx, request.account_id)
  return toAccount(user, request.custom_attributes)
}

/**
 * One user by id; what the service said goes into raw_data.
 *
 * @throws not_found for an unknown id and for another user's, invalid_response when the answer is no user.
 */
export async function readUser(ctx: Ctx, id: string): Promise<User> {
  const user = await service(ctx).get<User | undefined>(path`/Users/${id}`)
  if (user?.id === undefined) {
    throw new ConnectorError('invalid_response', 'The service answered without a user')
  }
  // Some services find a user by another spelling of the id: lists and groups would not know it.
  if (idOf(user) !== id)
    throw new ConnectorError('not_found', `There is no user ${JSON.stringify(id)}`)
  ctx.raw(user)
  return user
}

/**
 * Sets `active`, whatever it was: setting it twice is no error.
 *
 * @throws unsupported_operation for the account whose token is used, to be switched off; api_error where the
 * service answers with a user that is what it was.
 */
export async function setActive(ctx: Ctx, id: string, active: boolean): Promise<void> {
  const address = path`/Users/${id}`
  if (!active) await mustNotBeOwn(ctx, id, 'is switched off')
  const user = await patch<User>(ctx, address, [{ op: 'replace', path: 'active', value: active }])
  const told = user?.active ?? active
  if ((statusOf({ active: told }) === 'ACTIVE') !== active)
    throw new ConnectorError(
      'api_error',
      `The service took the change, and says that the account is still ${active ? 'inactive' : 'active'}: it may not let SCIM set \`active\``,
    )
}
