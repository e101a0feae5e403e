/** Users: reading them. */
import {
  anchoredListing,
  ConnectorError,
  chain,
  type Input,
  mapped,
  type Output,
  type Paged,
} from 'keyway/sdk'
import { ask, type Ctx, replyOf } from './service.ts'

type Account = Output<'get_account'>

/** A user, as far as it is read here. `extra_capabilities`: roles, and rights given by themselves. */
export type User = {
  id: number
  username: string
  name: string
  first_name: string
  last_name: string
  email: string
  roles: string[]
  extra_capabilities: { [name: string]: boolean }
  registered_date: string
}

const FIELDS =
  'id,username,name,first_name,last_name,email,roles,extra_capabilities,registered_date'

/** Most users that WordPress gives at once. */
const MOST = 100

/** What makes WordPress tell names, addresses and roles. */
const WHOLE = { context: 'edit', _fields: FIELDS }

/**
 * All users by age, or those that a query finds.
 *
 * @throws permission_denied when WordPress keeps some of them back: to an access review, missing people
 * look like people who have left.
 */
export const usersOf = (ctx: Ctx, query: { roles?: string } = {}) =>
  anchoredListing<User>(
    async ({ offset, limit }) => {
      const { body: items, headers } = await replyOf<User[]>(ctx, 'GET', '/wp/v2/users', {
        query: { ...WHOLE, orderby: 'id', ...query, offset, per_page: limit },
      })
      const told = headers.get('x-wp-total')
      const total = Number(told ?? Number.NaN)
      if (!Array.isArray(items) || !Number.isInteger(total))
        throw new ConnectorError(
          'invalid_response',
          'WordPress did not answer with a list of users and its length (X-WP-Total)',
        )
      const kept = Math.min(limit, Math.max(0, total - offset)) - items.length
      if (kept > 0)
        throw new ConnectorError(
          'permission_denied',
          `WordPress keeps ${kept} users of this page back: the application password's user may not edit them (edit_users)`,
        )
      return { items, total }
    },
    ({ id }) => id,
    { most: MOST },
  )

/** One page of users. */
export const listAccounts = (ctx: Ctx): Promise<Paged<Account[]>> =>
  chain<Account>(ctx, { users: mapped(usersOf(ctx), (user) => [toAccount(user)]) })

/** One user by id. */
export async function getAccount(request: Input<'get_account'>, ctx: Ctx): Promise<Account> {
  const user = await readUser(ctx, request.account_id)
  ctx.raw(user)
  return toAccount(user)
}

/**
 * One user by id.
 *
 * @throws not_found for an unknown id, and for what is no id: WordPress knows `me`, too.
 */
export const readUser = async (ctx: Ctx, id: string): Promise<User> =>
  ask<User>(ctx, 'GET', routeOf(id), { query: WHOLE })

/** The route of a user. @throws not_found for what is no id. */
export function routeOf(id: string): string {
  if (/^[1-9]\d{0,17}$/.test(id)) return `/wp/v2/users/${id}`
  throw new ConnectorError('not_found', `There is no user ${JSON.stringify(id)}`)
}

/** The user with an e-mail address, which WordPress compares without case; null when there is none. */
export async function userByEmail(ctx: Ctx, email: string): Promise<User | null> {
  const users = await ask<User[]>(ctx, 'GET', '/wp/v2/users', {
    query: { ...WHOLE, search: email, per_page: MOST },
  })
  return users.find((user) => user.email.toLowerCase() === email.toLowerCase()) ?? null
}

/** What WordPress keeps in names for characters that HTML has a meaning for. */
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#039;': "'",
}

/** A name as it was given: WordPress keeps `A & B` as `A &amp; B`, and tells it so. */
const nameIn = (html: string | null | undefined): string =>
  (html ?? '').replace(/&(?:amp|lt|gt|quot|#039);/g, (entity) => ENTITIES[entity] ?? entity)

// WordPress cannot disable a user: every user may sign in.
const toAccount = (user: User): Account => ({
  integration_specific_id: String(user.id),
  email: user.email || null,
  given_name: nameIn(user.first_name) || null,
  family_name: nameIn(user.last_name) || null,
  username: user.username,
  user_status: 'ACTIVE',
  extra_data: { display_name: nameIn(user.name), registered_date: user.registered_date },
})
