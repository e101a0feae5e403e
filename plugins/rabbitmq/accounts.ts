/** Users of the cluster: reading them. */
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

/** A user, without what nobody needs to see: the server adds the hash of the password unasked. */
export type User = { name: string; tags: string[] }

/** A user as it must be written back: a PUT without the hash would take the password away. */
export type WholeUser = User & { password_hash: string; hashing_algorithm: string }

/** Columns of a user to ask for. */
export const USER: (keyof User)[] = ['name', 'tags']

/** One page of users, by name. */
export async function listAccounts(ctx: Ctx): Promise<Paged<Output<'list_accounts'>>> {
  const page = keyPage(ctx, await readList<User>(ctx, '/users', USER), ({ name }) => name)
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

/**
 * One user by name, without the hash of the password.
 *
 * @throws not_found for an unknown name.
 */
export const readUser = (ctx: Ctx, name: string): Promise<User> => readNamed<User>(ctx, name, USER)

/**
 * One user by name, to be written back. Must never reach `raw` or a message.
 *
 * @throws not_found for an unknown name.
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

/** Users have a name only, and are never switched off. */
const toAccount = ({ name, tags }: User): Output<'get_account'> => ({
  integration_specific_id: name,
  email: /^[^\s@]+@[^\s@]+$/.test(name) ? name : null,
  username: name,
  user_status: 'ACTIVE',
  extra_data: { tags },
})
