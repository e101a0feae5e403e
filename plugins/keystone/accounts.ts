/** Users: reading them, and switching them on and off. */
import { chain, type Input, type Output, type Paged, paged, path } from 'keyway/sdk'
import { inEach } from './in-each.ts'
import { mustNotBeOwn } from './own.ts'
import { readDomains } from './resources.ts'
import { type Ctx, readList, service } from './service.ts'

/** A user; the attributes beside these are whatever a person has stored. */
export type User = {
  id: string
  name: string
  domain_id?: string
  enabled?: boolean
  email?: string | null
  [attribute: string]: unknown
}

type Account = Output<'get_account'>

/** Attributes that every cloud knows; others are asked for by their names. */
const CUSTOM = {
  description: 'Description',
  default_project_id: 'The project that a login without a project leads to',
  password_expires_at: 'When the password must be changed',
}

/** The text attributes of users that Keystone itself knows. */
export const listCustomAttributes = (): Output<'list_custom_attributes_schema'> =>
  Object.entries(CUSTOM).map(([name, description]) => ({
    customized_type: 'ACCOUNT',
    name,
    attribute_type: 'STRING',
    description,
  }))

/** One page of users, by id, domain after domain: with a driver for each domain there is no list of all. */
export async function listAccounts(
  request: Input<'list_accounts'>,
  ctx: Ctx,
): Promise<Paged<Output<'list_accounts'>>> {
  const users = inEach(
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

/** One user by id. */
export async function getAccount(request: Input<'get_account'>, ctx: Ctx): Promise<Account> {
  const user = await readUser(ctx, request.account_id)
  ctx.raw(user)
  return toAccount(user, request.custom_attributes)
}

/**
 * One user by id.
 *
 * @throws not_found for an unknown id.
 */
export async function readUser(ctx: Ctx, id: string): Promise<User> {
  const { user } = await service(ctx).get<{ user: User }>(path`/users/${id}`)
  return user
}

/**
 * Switches a user on or off, whatever it was: doing it twice is no error.
 *
 * @throws unsupported_operation for the user that the connector logs in as, to be switched off.
 */
export async function setEnabled(ctx: Ctx, id: string, enabled: boolean): Promise<void> {
  if (!enabled) await mustNotBeOwn(ctx, id, 'is switched off')
  await service(ctx).patch(path`/users/${id}`, { user: { enabled } })
}

/** A directory behind Keystone may know nobody who is switched off, and say nothing of it. */
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

/** Those of the named attributes that the user has as a text. */
function customOf(user: User, names: readonly string[]): Record<string, string> {
  const found = names.flatMap((name) => {
    const value = Object.hasOwn(user, name) ? user[name] : undefined
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  return Object.fromEntries(found)
}
