/** Reads the users of the server. */
import { ConnectorError, type Input, keyPage, type Output, type Paged, paged } from 'keyway/sdk'
import { type Ctx, read, statementError, textIn } from './service.ts'

export type User = { name: string; admin: boolean }

/** Returns all users. InfluxDB has no pages. */
export const readUsers = async (ctx: Ctx): Promise<User[]> =>
  (await read(ctx, 'SHOW USERS')).map((row) => ({ name: textIn(row, 0), admin: row[1] === true }))

/** Returns one page of users, ordered by name. */
export async function listAccounts(ctx: Ctx): Promise<Paged<Output<'list_accounts'>>> {
  const page = keyPage(ctx, await readUsers(ctx), ({ name }) => name)
  ctx.raw(page.response)
  return paged(page.response.map(toAccount), page.cursor)
}

/** Returns one user by name. */
export async function getAccount(
  request: Input<'get_account'>,
  ctx: Ctx,
): Promise<Output<'get_account'>> {
  const user = await readUser(ctx, request.account_id)
  ctx.raw(user)
  return toAccount(user)
}

/**
 * Returns one user by name.
 *
 * @throws `not_found` if the name is unknown
 */
export async function readUser(ctx: Ctx, name: string): Promise<User> {
  const user = (await readUsers(ctx)).find((one) => one.name === name)
  if (user === undefined) throw statementError(`user not found: ${JSON.stringify(name)}`)
  return user
}

/**
 * Refuses changes to the user that the connector logs in as. They would lock the connector out.
 *
 * @throws `unsupported_operation` for that user
 */
export function refuseOwnAccount(ctx: Ctx, name: string, what: string): void {
  if (name !== ctx.auth.basic.username) return
  throw new ConnectorError(
    'unsupported_operation',
    `The connector logs in as this user, and could not once it ${what}. Use another administrator`,
    { app_error_code: 'own_account' },
  )
}

/** Converts a user to an account. A user has only a name, and cannot be disabled. */
const toAccount = ({ name, admin }: User): Output<'get_account'> => ({
  integration_specific_id: name,
  email: /^[^\s@]+@[^\s@]+$/.test(name) ? name : null,
  username: name,
  user_status: 'ACTIVE',
  extra_data: { administrator: admin },
})
