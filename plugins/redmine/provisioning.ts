/** Creates, updates, locks and deletes users. */
import {
  allOrNothing,
  ConnectorError,
  hasCode,
  type Input,
  type Output,
  path,
  renamed,
  startsActive,
} from 'keyway/sdk'
import { readUser, STATUSES, type User, type WholeUser } from './accounts.ts'
import { grantOf } from './entitlements.ts'
import { addGrant } from './grants.ts'
import { refuseOwnAccount } from './own.ts'
import { type Ctx, service } from './service.ts'

/** Fields that connector.json adds to the request. */
type Fields = { readonly [field: string]: unknown }

/** Redmine's attributes by the names of our fields. */
const ATTRIBUTES = {
  username: 'login',
  email: 'mail',
  given_name: 'firstname',
  family_name: 'lastname',
  password: 'password',
  must_change_password: 'must_change_passwd',
  auth_source_id: 'auth_source_id',
} as const

/**
 * Creates a user with its groups and roles. If one cannot be granted, the user is deleted again.
 *
 * @throws `api_error` with the status 422 and the code `login_taken` or `mail_taken`
 */
export async function createAccount(
  request: Input<'create_account'> & Fields,
  ctx: Ctx,
): Promise<Output<'create_account'>> {
  const { email, given_name, family_name, entitlements } = request
  if (!email || !given_name || !family_name)
    throw new ConnectorError(
      'integration_missing_parameter',
      'Redmine needs email, given_name and family_name',
    )
  const username = request.username ?? email
  const grants = entitlements.map((one) =>
    grantOf(
      one.entitlement_type,
      one.integration_specific_id,
      one.integration_specific_resource_id ?? '',
    ),
  )
  const status = startsActive(request.user_status) ? 'ACTIVE' : 'SUSPENDED'
  const own = request['password'] === undefined && request['auth_source_id'] === undefined
  const user = {
    ...renamed({ ...request, username }, ATTRIBUTES),
    ...(own ? { generate_password: true } : {}),
    status: STATUSES[status],
  }
  return allOrNothing(async (undo) => {
    const { user: made } = await withTakenName(
      ctx,
      { login: username, mail: email },
      null,
      service(ctx).post<{ user: WholeUser }>('/users.json', { user }),
    )
    const { id } = made
    undo(`the user ${id}`, () => service(ctx).delete(path`/users/${id}.json`))
    for (const grant of grants) await addGrant(ctx, String(id), grant)
    return { status, created: true, id: String(id) }
  })
}

/**
 * Changes the given attributes and keeps the others.
 *
 * @throws `api_error` as for a new user if a name is taken
 */
export async function updateAccount(
  request: Input<'update_account'> & Fields,
  ctx: Ctx,
): Promise<Output<'update_account'>> {
  const user = renamed(request, ATTRIBUTES)
  if (Object.keys(user).length === 0)
    throw new ConnectorError('bad_request', 'Nothing to change. Give at least one field')
  const { id } = await readUser(ctx, request.id)
  await withTakenName(ctx, user, id, service(ctx).put(path`/users/${request.id}.json`, { user }))
  return { id: request.id }
}

/** Locks or activates a user. Repeating it is not an error. */
export async function setStatus(
  ctx: Ctx,
  id: string,
  status: 'ACTIVE' | 'SUSPENDED',
): Promise<void> {
  const user = await readUser(ctx, id)
  if (user.status === STATUSES[status]) return
  if (status === 'SUSPENDED') await refuseOwnAccount(ctx, id, 'is locked')
  await service(ctx).put(path`/users/${id}.json`, { user: { status: STATUSES[status] } })
}

/** Deletes a user permanently. Its content becomes anonymous. Locking the user instead keeps the name. */
export async function deleteAccount(
  { account_id: id }: Input<'delete_account'>,
  ctx: Ctx,
): Promise<Output<'delete_account'>> {
  await readUser(ctx, id)
  await refuseOwnAccount(ctx, id, 'is deleted')
  await service(ctx).delete(path`/users/${id}.json`)
  return { status: 'DELETED', deleted: true }
}

/** Names that are unique to a user. */
type Names = { login?: unknown; mail?: unknown }

/**
 * Waits for a user to be written, and converts the error for a taken name. Redmine's messages are in the
 * language of the key's user, so a taken name is detected by a search.
 *
 * @param own Number of the updated user, or null for a new user.
 * @throws `api_error` with the status 422 and the code `login_taken` or `mail_taken`
 */
async function withTakenName<T>(
  ctx: Ctx,
  { login, mail }: Names,
  own: number | null,
  write: Promise<T>,
): Promise<T> {
  try {
    return await write
  } catch (error) {
    if (!(error instanceof ConnectorError) || error.status_code !== 422) throw error
    const { message, status_code, raised_by } = error
    for (const [name, value, code] of [
      ['login', login, 'login_taken'],
      ['mail', mail, 'mail_taken'],
    ] as const)
      if (typeof value === 'string' && (await isTaken(ctx, name, value, own)))
        throw new ConnectorError('api_error', message, {
          status_code,
          raised_by,
          app_error_code: code,
        })
    throw hasCode(error, 'bad_request', 'invalid_value')
      ? error
      : new ConnectorError('bad_request', message, { status_code, raised_by })
  }
}

/** Maximum number of pages of 100 users that are searched for a name. Redmine also finds parts of names. */
const MAX_SEARCHED_PAGES = 20

/** Reports whether another user has the name. Redmine compares both names without case. */
async function isTaken(
  ctx: Ctx,
  name: 'login' | 'mail',
  value: string,
  own: number | null,
): Promise<boolean> {
  let offset = 0
  for (let page = 0; page < MAX_SEARCHED_PAGES; page += 1) {
    const { users, total_count } = await service(ctx).get<{ users: User[]; total_count: number }>(
      '/users.json',
      { query: { status: '', name: value, offset, limit: 100 } },
    )
    if (users.some((one) => one.id !== own && one[name]?.toLowerCase() === value.toLowerCase()))
      return true
    offset += users.length
    if (users.length === 0 || offset >= total_count) return false
  }
  return false
}
