/** Reads users. */
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

/**
 * User, with the fields that the connector reads. `extra_capabilities` holds roles and individually granted
 * capabilities.
 */
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

/** Maximum page size of users. */
const MAX_PAGE_SIZE = 100

/** Query parameters that make WordPress return names, addresses and roles. */
const WHOLE = { context: 'edit', _fields: FIELDS }

/**
 * Lists all users by age, or those that match a query.
 *
 * @throws `permission_denied` if WordPress withholds some of them: in an access review, missing people would
 * look like people who have left
 */
export const usersOf = (ctx: Ctx, query: { roles?: string } = {}) =>
  anchoredListing<User>(
    async ({ offset, limit }) => {
      const { body: items, headers } = await replyOf<User[]>(ctx, 'GET', '/wp/v2/users', {
        query: { ...WHOLE, orderby: 'id', ...query, offset, per_page: limit },
      })
      const header = headers.get('x-wp-total')
      const total = Number(header ?? Number.NaN)
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
    { most: MAX_PAGE_SIZE },
  )

/** Returns one page of users. */
export const listAccounts = (ctx: Ctx): Promise<Paged<Account[]>> =>
  chain<Account>(ctx, { users: mapped(usersOf(ctx), (user) => [toAccount(user)]) })

/** Returns one account by id. */
export async function getAccount(request: Input<'get_account'>, ctx: Ctx): Promise<Account> {
  const user = await readUser(ctx, request.account_id)
  ctx.raw(user)
  return toAccount(user)
}

/**
 * Returns one user by id.
 *
 * @throws `not_found` if the id is unknown or not a number: WordPress also accepts `me`
 */
export const readUser = async (ctx: Ctx, id: string): Promise<User> =>
  ask<User>(ctx, 'GET', routeOf(id), { query: WHOLE })

/**
 * Returns the route of a user.
 *
 * @throws `not_found` if the id is not a number
 */
export function routeOf(id: string): string {
  if (/^[1-9]\d{0,17}$/.test(id)) return `/wp/v2/users/${id}`
  throw new ConnectorError('not_found', `There is no user ${JSON.stringify(id)}`)
}

/**
 * Returns the user with an e-mail address, or null if there is none. WordPress compares addresses without
 * case.
 */
export async function userByEmail(ctx: Ctx, email: string): Promise<User | null> {
  const users = await ask<User[]>(ctx, 'GET', '/wp/v2/users', {
    query: { ...WHOLE, search: email, per_page: MAX_PAGE_SIZE },
  })
  return users.find((user) => user.email.toLowerCase() === email.toLowerCase()) ?? null
}

/** Entities that WordPress stores in names in place of HTML's special characters. */
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#039;': "'",
}

/** Returns a name as it was entered. WordPress stores and returns `A & B` as `A &amp; B`. */
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
