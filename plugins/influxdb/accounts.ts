/** Users of the server: reading them. */
import { ConnectorError, type Input, keyPage, type Output, type Paged, paged } from 'keyway/sdk'
import { type Ctx, read, statementError, textIn } from './service.ts'

export type User = { name: string; admin: boolean }

/** All users: InfluxDB gives them whole only. */
export const readUsers = async (ctx: Ctx): Promise<User[]> =>
  (await read(ctx, 'SHOW USERS')).map((row) => ({ name: textIn(row, 0), admin: row[1] === true }))

/** One page of users, by name. */
export async function listAccounts(ctx: Ctx): Promise<Paged<Output<'list_accounts'>>> {
  const page = keyPage(ctx, await readUsers(ctx), ({ name }) => name)
  ctx.raw(page.response)
  return paged(page.response.map(toAccount), page.cursor)
}

/** One user by name. */
export async function getAccount(
  request: Input<'get_account'>,
  ctx: Ctx,
): Promise<Output<'get_account'>> {
  const user = await readUser(ctx, request.account_id)
  ctx.raw(user)
  return toAccount(user)
}

/** @throws not_found for an unknown name */
export async function readUser(ctx: Ctx, name: string): Promise<User> {
  const user = (await readUsers(ctx)).find((one) => one.name === name)
  if (user === undefined) throw statementError(`user not found: ${JSON.stringify(name)}`)
  return user
}

/**
 * The user that the connector logs in as is not to be changed: it could do nothing any more.
 *
 * @throws unsupported_operation
 */
export function mustNotBeOwn(ctx: Ctx, name: string, what: string): void {
  if (name !== ctx.auth.basic.username) return
  throw new ConnectorError(
    'unsupported_operation',
    `The connector logs in as this user, and could not once it ${what}. Use another administrator`,
    { app_error_code: 'own_account' },
  )
}

/** Users have a name only, and are never switched off. */
const toAccount = ({ name, admin }: User): Output<'get_account'> => ({
  integration_specific_id: name,
  email: /^[^\s@]+@[^\s@]+$/.test(name) ? name : null,
  username: name,
  user_status: 'ACTIVE',
  extra_data: { administrator: admin },
})
