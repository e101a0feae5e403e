/** Creates, updates and deletes users. */
import {
  allOrNothing,
  ConnectorError,
  type Input,
  type Output,
  randomPassword,
  renamed,
  startsActive,
} from 'keyway/sdk'
import { readUser, routeOf, userByEmail } from './accounts.ts'
import { roleOf } from './entitlements.ts'
import { requireRoles, withUnknownRole } from './grants.ts'
import { refuseProtectedUser } from './guards.ts'
import { ask, type Ctx } from './service.ts'

/** Fields that connector.json adds to the request. */
type Fields = { readonly [field: string]: unknown }

/** WordPress's attributes by the names of our fields. */
const ATTRIBUTES = {
  email: 'email',
  given_name: 'first_name',
  family_name: 'last_name',
  display_name: 'name',
  password: 'password',
} as const

/** Maximum number of characters that WordPress stores of a value. */
const MAX_LENGTH = { email: 100, display_name: 250 } as const

/** Returns a text as WordPress stores it. */
const asStored = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/**
 * Refuses values that are too long. For a user with such a value, WordPress would write only the names and
 * the roles, and would report success.
 *
 * @throws `invalid_value` if a value is too long
 */
function refuseTooLong(values: Fields): void {
  for (const [field, most] of Object.entries(MAX_LENGTH)) {
    const value = values[field]
    if (typeof value === 'string' && [...asStored(value)].length > most)
      throw new ConnectorError(
        'invalid_value',
        `${field} is longer than the ${most} characters that WordPress keeps: give a shorter one`,
      )
  }
}

/**
 * Creates a user with exactly the requested roles. If the roles differ, the user is deleted again.
 *
 * @throws `api_error` with the code `existing_user_login` or `existing_user_email`; `invalid_value` if a
 * value is too long
 */
export async function createAccount(
  request: Input<'create_account'> & Fields,
  ctx: Ctx,
): Promise<Output<'create_account'>> {
  const { email } = request
  if (!email) throw new ConnectorError('integration_missing_parameter', 'WordPress needs an email')
  if (!startsActive(request.user_status))
    throw new ConnectorError(
      'unsupported_operation',
      'WordPress has no users who are switched off. Create the user when it may sign in',
    )
  // Without a display name, WordPress combines the given and family names.
  const { given_name: given, family_name: family } = request
  refuseTooLong({ display_name: [given, family].filter(Boolean).join(' '), ...request })
  const roles = request.entitlements.map((one) =>
    roleOf(
      one.entitlement_type,
      one.integration_specific_id,
      one.integration_specific_resource_id ?? '',
    ),
  )
  // Without `roles`, the user would get the site's default role for new users.
  const json = {
    password: randomPassword(),
    ...renamed(request, ATTRIBUTES),
    username: request.username ?? email,
    roles: [...new Set(roles)],
  }
  return allOrNothing(async (undo) => {
    const { id, roles: now } = await withEmailOwner(
      ctx,
      email,
      withUnknownRole(
        ask<{ id: number; roles: string[] }>(ctx, 'POST', '/wp/v2/users', {
          query: { _fields: 'id,roles' },
          json,
        }),
      ),
    )
    // The new user has no posts yet, so none need an heir.
    undo(`the user ${id}`, () => remove(ctx, String(id), 'false'))
    requireRoles(now, json.roles)
    return { status: 'ACTIVE', created: true, id: String(id) }
  })
}

/** Changes the given attributes and keeps the others. A user name never changes. */
export async function updateAccount(
  request: Input<'update_account'> & Fields,
  ctx: Ctx,
): Promise<Output<'update_account'>> {
  const json = renamed(request, ATTRIBUTES)
  if (Object.keys(json).length === 0)
    throw new ConnectorError('bad_request', 'Nothing to change. Give at least one field')
  refuseTooLong(request)
  const email = typeof request['email'] === 'string' ? request['email'] : null
  await withEmailOwner(
    ctx,
    email,
    ask(ctx, 'POST', routeOf(request.id), { query: { _fields: 'id' }, json }),
  )
  return { id: request.id }
}

/**
 * Deletes a user permanently. Its posts are reassigned to the heir, or else to the user of the application
 * password. Otherwise WordPress would delete them, too.
 *
 * @throws `unsupported_operation` for the connector's own account and for the last administrator
 */
export async function deleteAccount(
  { account_id: id }: Input<'delete_account'>,
  ctx: Ctx,
): Promise<Output<'delete_account'>> {
  const me = await refuseProtectedUser(ctx, await readUser(ctx, id), 'is deleted')
  const heir = ctx.settings.heir ?? String(me.id)
  if (heir === id)
    throw new ConnectorError(
      'unsupported_operation',
      'This user gets the posts of those who are deleted. Name another one in the setting `heir` first',
      { app_error_code: 'heir' },
    )
  await remove(ctx, id, heir)
  return { status: 'DELETED', deleted: true }
}

const remove = (ctx: Ctx, id: string, reassign: string) =>
  ask(ctx, 'DELETE', routeOf(id), { query: { force: true, reassign } })

/** Codes of WordPress for a taken address: for a new user, and for an updated one. */
const EMAIL_TAKEN = 'existing_user_email'
const EMAIL_REFUSED = 'rest_user_invalid_email'

/**
 * Waits for a user to be written, and adds the owner to the error for a taken e-mail address.
 *
 * @throws `api_error` that names the owner of the address
 */
async function withEmailOwner<T>(ctx: Ctx, email: string | null, write: Promise<T>): Promise<T> {
  try {
    return await write
  } catch (error) {
    if (!(error instanceof ConnectorError) || email === null) throw error
    const { app_error_code: code, status_code, raised_by, message } = error
    if (code !== EMAIL_TAKEN && code !== EMAIL_REFUSED) throw error
    const owner = await userByEmail(ctx, email)
    if (owner === null) throw error
    throw new ConnectorError('api_error', `${message} It is the one of user ${owner.id}`, {
      app_error_code: EMAIL_TAKEN,
      status_code,
      raised_by,
    })
  }
}
