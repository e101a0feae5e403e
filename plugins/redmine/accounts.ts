/** Reads users. */
import {
  allItems,
  ConnectorError,
  chain,
  type Input,
  mapped,
  type Output,
  type Paged,
  path,
} from 'keyway/sdk'
import { type Ctx, NO_ADMINISTRATOR, pagesOf, service } from './service.ts'

type Account = Output<'get_account'>
export type Status = 'ACTIVE' | 'PENDING' | 'SUSPENDED'

/** Redmine's status numbers: active, registered (not approved yet), locked. */
export const STATUSES = { ACTIVE: 1, PENDING: 2, SUSPENDED: 3 } as const

/** User in a list. Lists do not contain the status, so each status is listed separately. */
export type User = {
  id: number
  login: string
  firstname: string
  lastname: string
  mail?: string | null
  admin?: boolean
  created_on?: string
  last_login_on?: string | null
  twofa_scheme?: string | null
}

/** User read individually. */
export type WholeUser = User & { status?: number; groups?: Named[]; memberships?: Membership[] }

export type Named = { id: number; name: string }
export type MemberRole = Named & { inherited?: boolean }
export type Membership = { id: number; project: Named; roles: MemberRole[] }

/**
 * Order of users: by age, so that new ones come last. The login, which is unique, orders users created in the
 * same second.
 */
const ORDER = 'created_on,login'

/** Lists the users of one status in the order of their creation. */
export const usersOf = (ctx: Ctx, status: Status) =>
  pagesOf<User>(ctx, '/users.json', 'users', { status: STATUSES[status], sort: ORDER })

/** Returns one page of users: active ones, then locked ones, then registered ones. */
export function listAccounts(ctx: Ctx): Promise<Paged<Account[]>> {
  const of = (status: Status) =>
    mapped(usersOf(ctx, status), (user): Account[] => [toAccount(user, status)])
  return chain<Account>(ctx, {
    active: of('ACTIVE'),
    locked: of('SUSPENDED'),
    registered: of('PENDING'),
  })
}

/** Returns one user by id. */
export async function getAccount(request: Input<'get_account'>, ctx: Ctx): Promise<Account> {
  const user = await readUser(ctx, request.account_id)
  ctx.raw(user)
  return toAccount(user, statusOf(user))
}

/**
 * Reports whether a text is a number as Redmine writes it. Other spellings would give an object several ids.
 */
export const isNumber = (id: string): boolean => /^[1-9]\d*$/.test(id)

/** Returns a user without its own API key, which Redmine always includes. */
export function withoutKey({
  api_key: _key,
  ...user
}: WholeUser & { api_key?: string }): WholeUser {
  return user
}

/**
 * Returns one user by id.
 *
 * @throws `not_found` if the id is unknown or not a number: Redmine also accepts `current`, and finds user 1
 * by `01`
 */
export async function readUser(ctx: Ctx, id: string, include?: string): Promise<WholeUser> {
  if (!isNumber(id)) throw new ConnectorError('not_found', `There is no user ${JSON.stringify(id)}`)
  const { user } = await service(ctx).get<{ user: WholeUser }>(path`/users/${id}.json`, {
    query: { include },
  })
  return withoutKey(user)
}

/**
 * Returns the status of a user.
 *
 * @throws `permission_denied` if Redmine omits the status; `invalid_response` if it is unknown
 */
export function statusOf({ status }: WholeUser): Status {
  if (status === STATUSES.ACTIVE) return 'ACTIVE'
  if (status === STATUSES.SUSPENDED) return 'SUSPENDED'
  if (status === STATUSES.PENDING) return 'PENDING'
  if (status === undefined)
    throw new ConnectorError(
      'permission_denied',
      `Redmine does not tell the status of the user. ${NO_ADMINISTRATOR}`,
    )
  throw new ConnectorError('invalid_response', `Redmine tells an unknown status: ${status}`)
}

/** Returns the last sign-in to the web pages of each user. Requests with an API key do not count. */
export async function getLastActivity(
  { account_ids: ids }: Input<'get_last_activity'>,
  ctx: Ctx,
): Promise<Output<'get_last_activity'>> {
  const wanted = new Set(ids)
  const users = await allItems(
    pagesOf<User>(ctx, '/users.json', 'users', { status: '', sort: ORDER }),
  )
  return users.flatMap(({ id, last_login_on: at }) =>
    at && wanted.has(String(id))
      ? [{ account_id: String(id), event_type: 'last_login', happened_at: at }]
      : [],
  )
}

const toAccount = (user: User, status: Status): Account => ({
  integration_specific_id: String(user.id),
  email: user.mail || null,
  given_name: user.firstname,
  family_name: user.lastname,
  username: user.login,
  user_status: status,
  extra_data: {
    created_on: user.created_on ?? null,
    last_login_on: user.last_login_on ?? null,
    two_factor: Boolean(user.twofa_scheme),
  },
})
