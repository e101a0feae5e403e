/** Reads, activates and deactivates accounts. */
import { ConnectorError, type Input, mapped, type Output, type Page, path } from 'keyway/sdk'
import { refuseOwnAccount } from './own.ts'
import { type Ctx, listing, patch, service } from './service.ts'
import { idOf, statusOf, toAccount, type User } from './users.ts'

/** Number of users per page if the caller requests no page size. Most services return no more at once. */
const USERS_PER_PAGE = 100

/** Returns one page of users. Inactive ones are suspended: SCIM has no other disabled state. */
export async function listAccounts(
  request: Input<'list_accounts'>,
  ctx: Ctx,
): Promise<Page<Output<'list_accounts'>[number]>> {
  const users = listing<User>(ctx, '/Users', { size: USERS_PER_PAGE })
  return mapped(users, (user) => [toAccount(user, request.custom_attributes)])(ctx.page)
}

/** Returns one user by id. */
export async function getAccount(
  request: Input<'get_account'>,
  ctx: Ctx,
): Promise<Output<'get_account'>> {
  const user = await readUser(ctx, request.account_id)
  return toAccount(user, request.custom_attributes)
}

/**
 * Returns one user by id, and adds the reply to raw_data.
 *
 * @throws `not_found` if the id is unknown or the service returns another user; `invalid_response` if the
 * reply is not a user
 */
export async function readUser(ctx: Ctx, id: string): Promise<User> {
  const user = await service(ctx).get<User | undefined>(path`/Users/${id}`)
  if (user?.id === undefined) {
    throw new ConnectorError('invalid_response', 'The service answered without a user')
  }
  // Some services accept another spelling of the id, which lists and groups do not contain.
  if (idOf(user) !== id)
    throw new ConnectorError('not_found', `There is no user ${JSON.stringify(id)}`)
  ctx.raw(user)
  return user
}

/**
 * Sets `active`. Repeating it is not an error.
 *
 * @throws `unsupported_operation` if the account to deactivate is the one whose token is used; `api_error` if
 * the service returns the user unchanged
 */
export async function setActive(ctx: Ctx, id: string, active: boolean): Promise<void> {
  const address = path`/Users/${id}`
  if (!active) await refuseOwnAccount(ctx, id, 'is switched off')
  const user = await patch<User>(ctx, address, [{ op: 'replace', path: 'active', value: active }])
  const isActive = user?.active ?? active
  if ((statusOf({ active: isActive }) === 'ACTIVE') !== active)
    throw new ConnectorError(
      'api_error',
      `The service took the change, and says that the account is still ${active ? 'inactive' : 'active'}: it may not let SCIM set \`active\``,
    )
}
