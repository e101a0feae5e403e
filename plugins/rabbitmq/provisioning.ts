/** Creates and deletes users, and sets passwords. */
import { allOrNothing, ConnectorError, hasCode, type Input, type Output, path } from 'keyway/sdk'
import { readUser } from './accounts.ts'
import { givenTag, grantOf, type Operation } from './entitlements.ts'
import { grantPermissions, vhostMustExist, writeUser } from './grants.ts'
import { refuseOwnAccount } from './own.ts'
import { type Ctx, service } from './service.ts'

/** Fields that connector.json adds to the request. */
type WithPassword = { password?: unknown }

/**
 * Creates a user with its tags and permissions. If a permission cannot be written, the user is deleted again.
 *
 * @throws `api_error` with the status 412 and the code `user_exists` if the name is taken
 */
export async function createAccount(
  request: Input<'create_account'> & WithPassword,
  ctx: Ctx,
): Promise<Output<'create_account'>> {
  const name = request.username ?? request.email
  if (!name)
    throw new ConnectorError('integration_missing_parameter', 'username or email is required')
  if (request.user_status && request.user_status.toUpperCase() !== 'ACTIVE')
    throw new ConnectorError('bad_request', 'RabbitMQ has no users that are not active')

  const { tags, operations } = sorted(request.entitlements)
  for (const vhost of operations.keys()) await vhostMustExist(ctx, vhost)
  return allOrNothing(async (undo) => {
    await putNew(ctx, name, { tags, ...passwordOf(request) })
    undo(`the user ${name}`, () => service(ctx).delete(path`/users/${name}`))
    for (const [vhost, names] of operations) await grantPermissions(ctx, name, vhost, names)
    return { status: 'ACTIVE', created: true, id: name }
  })
}

/**
 * Creates a user. Without the header `If-None-Match`, the PUT would overwrite the password and the tags of an
 * existing user.
 */
async function putNew(ctx: Ctx, name: string, user: object): Promise<void> {
  try {
    await service(ctx).put(path`/users/${name}`, user, { headers: { 'if-none-match': '*' } })
  } catch (error) {
    if (!hasCode(error, 'api_error') || error.status_code !== 412) throw error
    const message = `There is a user ${JSON.stringify(name)} already`
    throw new ConnectorError('api_error', message, {
      status_code: 412,
      app_error_code: 'user_exists',
    })
  }
}

/** Splits entitlements into tags and the operations by virtual host. */
function sorted(entitlements: Input<'create_account'>['entitlements']) {
  const tags = new Set<string>()
  const operations = new Map<string, Operation[]>()
  for (const one of entitlements) {
    const resource = one.integration_specific_resource_id ?? ''
    const grant = grantOf(one.entitlement_type, one.integration_specific_id, resource)
    if (grant.type === 'TAG') tags.add(givenTag(grant.tag))
    else operations.set(grant.vhost, [...(operations.get(grant.vhost) ?? []), grant.operation])
  }
  return { tags: [...tags], operations }
}

/**
 * Returns the password fields. With an empty hash, the user cannot log in by password, but can by a client
 * certificate, for example.
 */
const passwordOf = ({ password }: WithPassword) =>
  password === undefined ? { password_hash: '' } : { password: usable(password) }

function usable(password: unknown): string {
  if (typeof password === 'string' && password !== '') return password
  throw new ConnectorError('bad_request', 'RabbitMQ lets nobody log in with an empty password')
}

/**
 * Sets a new password and keeps the tags.
 *
 * @throws `unsupported_operation` for the user that the connector logs in as
 */
export async function updateAccount(
  request: Input<'update_account'> & WithPassword,
  ctx: Ctx,
): Promise<Output<'update_account'>> {
  const password = usable(request.password)
  await refuseOwnAccount(ctx, request.id, 'has another password')
  const { name, tags } = await readUser(ctx, request.id)
  await writeUser(ctx, { name, tags, password })
  return { id: name }
}

/**
 * Deletes a user and all its permissions. The server closes its connections.
 *
 * @throws `unsupported_operation` for the user that the connector logs in as
 */
export async function deleteAccount(
  { account_id: name }: Input<'delete_account'>,
  ctx: Ctx,
): Promise<Output<'delete_account'>> {
  await refuseOwnAccount(ctx, name, 'is gone')
  await service(ctx).delete(path`/users/${name}`)
  return { status: 'DELETED', deleted: true }
}
