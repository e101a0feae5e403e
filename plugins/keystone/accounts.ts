/** Reads, enables and disables users. */
import { chain, type Input, type Output, type Paged, paged, path } from 'keyway/sdk'
import { listContainers } from './in-each.ts'
import { refuseOwnAccount } from './own.ts'
import { readDomains } from './resources.ts'
import { type Ctx, readList, service } from './service.ts'

/** User. A user may have further attributes of any name and type. */
export type User = {
  id: string
  name: string
  domain_id?: string
  enabled?: boolean
  email?: string | null
  [attribute: string]: unknown
}

type Account = Output<'get_account'>

/** Attributes that every cloud has. Others can be requested by name. */
const CUSTOM = {
  description: 'Description',
  default_project_id: 'The project that a login without a project leads to',
  password_expires_at: 'When the password must be changed',
}

/** Returns the text attributes of users that Keystone itself defines. */
export const listCustomAttributes = (): Output<'list_custom_attributes_schema'> =>
  Object.entries(CUSTOM).map(([name, description]) => ({
    customized_type: 'ACCOUNT',
    name,
    attribute_type: 'STRING',
    description,
  }))

/**
 * Returns one page of users, ordered by id within each domain. If each domain has its own driver, Keystone
 * cannot list the users of all domains at once.
 */
export async function listAccounts(
  request: Input<'list_accounts'>,
  ctx: Ctx,
): Promise<Paged<Output<'list_accounts'>>> {
  const users = listContainers(
    () => readDomains(ctx),
    (domain_id) => readList<User>(ctx, '/users', { domain_id }),
    (user) => user.id,
  )
  const { response, cursor } = await chain<User>(ctx, { users })
  ctx.raw(response)
  return paged(
    response.map((user) => toAccount(user, request.custom_attributes)),
    cursor,
  )
}

/** Returns one account by id. */
export async function getAccount(request: Input<'get_account'>, ctx: Ctx): Promise<Account> {
  const user = await readUser(ctx, request.account_id)
  ctx.raw(user)
  return toAccount(user, request.custom_attributes)
}

/**
 * Returns one user by id.
 *
 * @throws `not_found` if the id is unknown
 */
export async function readUser(ctx: Ctx, id: string): Promise<User> {
  const { user } = await service(ctx).get<{ user: User }>(path`/users/${id}`)
  return user
}

/**
 * Enables or disables a user. Repeating it is not an error.
 *
 * @throws `unsupported_operation` if the user to disable is the one that the connector logs in as
 */
export async function setEnabled(ctx: Ctx, id: string, enabled: boolean): Promise<void> {
  if (!enabled) await refuseOwnAccount(ctx, id, 'is switched off')
  await service(ctx).patch(path`/users/${id}`, { user: { enabled } })
}

/**
 * Returns the status of a user. A directory used by Keystone may not track disabled users, and then `enabled`
 * is missing.
 */
export const statusOf = ({ enabled }: Pick<User, 'enabled'>): 'ACTIVE' | 'SUSPENDED' =>
  enabled === false ? 'SUSPENDED' : 'ACTIVE'

function toAccount(user: User, attributes: readonly string[] = []): Account {
  return {
    integration_specific_id: user.id,
    email: user.email || (/^[^\s@]+@[^\s@]+$/.test(user.name) ? user.name : null),
    username: user.name,
    user_status: statusOf(user),
    extra_data: { domain_id: user.domain_id ?? null },
    custom_attributes: attributes.length === 0 ? null : customOf(user, attributes),
  }
}

/** Returns the named attributes that the user has as text. */
function customOf(user: User, names: readonly string[]): Record<string, string> {
  const found = names.flatMap((name) => {
    const value = Object.hasOwn(user, name) ? user[name] : undefined
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  return Object.fromEntries(found)
}
