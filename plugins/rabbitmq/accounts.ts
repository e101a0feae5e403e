/** Reads the users of the cluster. */
import {
  ConnectorError,
  type Input,
  keyPage,
  type Output,
  type Paged,
  paged,
  path,
} from 'keyway/sdk'
import { type Ctx, readList, service } from './service.ts'

/** User without secrets. Unless the columns are restricted, the server includes the hash of the password. */
export type User = { name: string; tags: string[] }

/** User as it must be written back. A PUT without the hash would remove the password. */
export type WholeUser = User & { password_hash: string; hashing_algorithm: string }

/** Columns of a user to request. */
export const USER: (keyof User)[] = ['name', 'tags']

/** Returns one page of users, ordered by name. */
export async function listAccounts(ctx: Ctx): Promise<Paged<Output<'list_accounts'>>> {
  const page = keyPage(ctx, await readList<User>(ctx, '/users', USER), ({ name }) => name)
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
 * Returns one user by name, without the hash of the password.
 *
 * @throws `not_found` if the name is unknown
 */
export const readUser = (ctx: Ctx, name: string): Promise<User> => readNamed<User>(ctx, name, USER)

/**
 * Returns one user by name, in the form to write back. It must never reach `raw` or a message.
 *
 * @throws `not_found` if the name is unknown
 */
export const readWholeUser = (ctx: Ctx, name: string): Promise<WholeUser> =>
  readNamed<WholeUser>(ctx, name, [...USER, 'password_hash', 'hashing_algorithm'])

async function readNamed<T extends User>(
  ctx: Ctx,
  name: string,
  columns: (keyof T & string)[],
): Promise<T> {
  const user = await service(ctx).get<T | undefined>(path`/users/${name}`, {
    query: { columns: columns.join() },
  })
  // `/users/without-permissions` is a list, not the user of that name.
  if (user?.name !== name)
    throw new ConnectorError('not_found', `There is no user ${JSON.stringify(name)}`)
  return user
}

/** Converts a user to an account. A user has only a name, and cannot be disabled. */
const toAccount = ({ name, tags }: User): Output<'get_account'> => ({
  integration_specific_id: name,
  email: /^[^\s@]+@[^\s@]+$/.test(name) ? name : null,
  username: name,
  user_status: 'ACTIVE',
  extra_data: { tags },
})
