/** Creates, updates and deletes users. */
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
import { statusOf, type User } from './accounts.ts'
import { grantOf } from './entitlements.ts'
import { addGrant } from './grants.ts'
import { refuseOwnAccount } from './own.ts'
import { type Ctx, service } from './service.ts'

/** Fields that connector.json adds to the request. */
type Fields = { readonly [field: string]: unknown }

/** Keystone's attributes by the names of our fields. */
const ATTRIBUTES = {
  username: 'name',
  email: 'email',
  description: 'description',
  default_project_id: 'default_project_id',
  password: 'password',
} as const

/**
 * Creates a user with its groups and roles. If one cannot be granted, the user is deleted again.
 *
 * @throws `api_error` with the status 409 and the code `user_exists` if the name is taken
 */
export async function createAccount(
  request: Input<'create_account'> & Fields,
  ctx: Ctx,
): Promise<Output<'create_account'>> {
  const name = request.username ?? request.email
  if (!name)
    throw new ConnectorError('integration_missing_parameter', 'username or email is required')
  const grants = request.entitlements.map((one) =>
    grantOf(
      one.entitlement_type,
      one.integration_specific_id,
      one.integration_specific_resource_id ?? '',
    ),
  )
  return allOrNothing(async (undo) => {
    const user = await written(
      service(ctx).post<{ user: User }>('/users', {
        user: {
          ...renamed({ ...request, username: name }, ATTRIBUTES),
          ...(request['domain_id'] === undefined ? {} : { domain_id: request['domain_id'] }),
          enabled: startsActive(request.user_status),
        },
      }),
    )
    undo(`the user ${user.id}`, () => service(ctx).delete(path`/users/${user.id}`))
    for (const grant of grants) await addGrant(ctx, user.id, grant)
    ctx.raw(user)
    return { status: statusOf(user), created: true, id: user.id }
  })
}

/**
 * Changes the given attributes and keeps the others.
 *
 * @throws `unsupported_operation` for the name and the password of the user that the connector logs in as
 */
export async function updateAccount(
  request: Input<'update_account'> & Fields,
  ctx: Ctx,
): Promise<Output<'update_account'>> {
  const attributes = renamed(request, ATTRIBUTES)
  if (Object.keys(attributes).length === 0)
    throw new ConnectorError(
      'bad_request',
      `Nothing to change. Give one of: ${Object.keys(ATTRIBUTES).join(', ')}`,
    )
  if (request['username'] !== undefined || request['password'] !== undefined)
    await refuseOwnAccount(ctx, request.id, 'has another name or password')
  const change = service(ctx).patch<{ user: User }>(path`/users/${request.id}`, {
    user: attributes,
  })
  ctx.raw(await written(change))
  return { id: request.id }
}

/**
 * Deletes a user permanently, with all its grants.
 *
 * @throws `unsupported_operation` for the user that the connector logs in as
 */
export async function deleteAccount(
  { account_id: id }: Input<'delete_account'>,
  ctx: Ctx,
): Promise<Output<'delete_account'>> {
  await refuseOwnAccount(ctx, id, 'is gone')
  await service(ctx).delete(path`/users/${id}`)
  return { status: 'DELETED', deleted: true }
}

/** Returns the written user. Adds an error code for a taken name, for which Keystone has none. */
async function written(result: Promise<{ user: User }>): Promise<User> {
  try {
    return (await result).user
  } catch (error) {
    if (!hasCode(error, 'api_error') || error.status_code !== 409) throw error
    const { message, status_code, raised_by } = error
    throw new ConnectorError('api_error', message, {
      status_code,
      raised_by,
      app_error_code: 'user_exists',
    })
  }
}
