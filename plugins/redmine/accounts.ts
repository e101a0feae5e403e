/** Users: reading them. */
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

/** Redmine's numbers of a status: active, registered (nobody has let the person in yet), locked. */
export const STATUSES = { ACTIVE: 1, PENDING: 2, SUSPENDED: 3 } as const

/** A user in a list. It does not tell its status, so each status is a list of its own. */
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

/** A user by itself. */
export type WholeUser = User & { status?: number; groups?: Named[]; memberships?: Membership[] }

export type Named = { id: number; name: string }
export type MemberRole = Named & { inherited?: boolean }
export type Membership = { id: number; project: Named; roles: MemberRole[] }

/** By age, so that who is new comes last; by login, which no two have, of those made in one second. */
const ORDER = 'created_on,login'

/** Users of one status, in the order in which they were created. */
export const usersOf = (ctx: Ctx, status: Status) =>
  pagesOf<User>(ctx, '/users.json', 'users', { status: STATUSES[status], sort: ORDER })

/** One page of users: the active ones, then the locked ones, then those who wait to be let in. */
export function listAccounts(ctx: Ctx): Promise<Paged<Account[]>> {
  const of = (status: Status) =>
    mapped(usersOf(ctx, status), (user): Account[] => [toAccount(user, status)])
  return chain<Account>(ctx, {
    active: of('ACTIVE'),
    locked: of('SUSPENDED'),
    registered: of('PENDING'),
  })
}

/** One user by id. */
export async function getAccount(request: Input<'get_account'>, ctx: Ctx): Promise<Account> {
  const user = await readUser(ctx, request.account_id)
  ctx.raw(user)
  return toAccount(user, statusOf(user))
}

/** Whether a text is the number of something: as Redmine writes it, or one thing would have several ids. */
export const isNumber = (id: string): boolean => /^[1-9]\d*$/.test(id)

/** A user without its own API key, which Redmine tells unasked: nobody needs to see it. */
export function withoutKey({
  api_key: _key,
  ...user
}: WholeUser & { api_key?: string }): WholeUser {
  return user
}

/**
 * One user by id.
 *
 * @throws not_found for an unknown id, and for what is no id: Redmine knows `current`, too, and finds user 1 by `01`.
 */
export async function readUser(ctx: Ctx, id: string, include?: string): Promise<WholeUser> {
  if (!isNumber(id)) throw new ConnectorError('not_found', `There is no user ${JSON.stringify(id)}`)
  const { user } = await service(ctx).get<{ user: WholeUser }>(path`/users/${id}.json`, {
    query: { include },
  })
  return withoutKey(user)
}

/** @throws permission_denied where Redmine keeps the status back, invalid_response for one that it does not have. */
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

/** When people last signed in to the pages; calls with a key are not counted. */
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
