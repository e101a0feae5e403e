/**
 * Grants and revokes entitlements. Users and permission records can only be written whole, so every change
 * reads, modifies and writes. `limits.concurrency` is 1 so that two such changes do not interleave.
 */
import { ConnectorError, hasCode, type Input, ifThere, type Output, path } from 'keyway/sdk'
import { readUser, readWholeUser, type WholeUser } from './accounts.ts'
import {
  ADMINISTRATOR,
  type Grant,
  givenTag,
  grantOf,
  IMPERSONATOR,
  type Operation,
  operationsOf,
  type Permission,
} from './entitlements.ts'
import { refuseOwnAccount } from './own.ts'
import { type Ctx, service } from './service.ts'

/** Permission patterns that match all names and none. */
const ALL = '.*'
const NONE = '^$'

/** Grants a tag or a permission. Granting it again changes nothing. */
export async function assignEntitlement(
  request: Input<'assign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'assign_entitlement'>> {
  const user = request.account_integration_specific_id
  const grant = requested(request)
  if (grant.type === 'TAG') {
    const tag = givenTag(grant.tag)
    await changeTags(ctx, user, (tags) => [...tags, tag])
  } else await grantPermissions(ctx, user, grant.vhost, [grant.operation])
  return { assigned: true }
}

/**
 * Revokes a tag or a permission. Revoking one that is not held is not an error. An open connection caches its
 * rights, and a consumer keeps them indefinitely, so the user's connections are closed if a permission or the
 * tag impersonator is revoked.
 *
 * @throws `unsupported_operation` for the tag administrator of the user that the connector logs in as
 */
export async function unassignEntitlement(
  request: Input<'unassign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'unassign_entitlement'>> {
  const user = request.account_integration_specific_id
  const grant = requested(request)
  if (grant.type === 'TAG') {
    if (grant.tag === ADMINISTRATOR)
      await refuseOwnAccount(ctx, user, 'stops being an administrator')
    await changeTags(ctx, user, (tags) => tags.filter((tag) => tag !== grant.tag))
  } else {
    await revokePermission(ctx, user, grant.vhost, grant.operation)
  }
  // Also if it was not held: an earlier call may have been interrupted after the revocation.
  if (grant.type !== 'TAG' || grant.tag === IMPERSONATOR) await endConnections(ctx, user)
  return { unassigned: true }
}

const requested = (request: Input<'assign_entitlement'>): Grant =>
  grantOf(
    request.entitlement_type,
    request.entitlement_integration_specific_id,
    request.resource_integration_specific_id,
  )

async function changeTags(
  ctx: Ctx,
  name: string,
  change: (tags: string[]) => string[],
): Promise<void> {
  const user = await readWholeUser(ctx, name)
  const tags = [...new Set(change(user.tags))]
  if (tags.join('\n') !== user.tags.join('\n')) await writeUser(ctx, { ...user, tags })
}

/** New record of a user, with either the hash of the password or a new password. */
type Written = Pick<WholeUser, 'name' | 'tags'> &
  (Pick<WholeUser, 'password_hash' | 'hashing_algorithm'> | { password: string })

/**
 * Replaces an existing user. `If-Match` keeps the server from creating a user that was deleted in the
 * meantime.
 *
 * @throws `not_found` if the user no longer exists
 */
export async function writeUser(ctx: Ctx, { name, ...user }: Written): Promise<void> {
  try {
    await service(ctx).put(path`/users/${name}`, user, { headers: { 'if-match': '*' } })
  } catch (error) {
    if (!hasCode(error, 'api_error') || error.status_code !== 412) throw error
    throw new ConnectorError('not_found', `The user ${JSON.stringify(name)} is gone`, error)
  }
}

/**
 * Allows operations in a virtual host, on all names. An operation that is already allowed on some names is
 * kept unchanged: a deliberately narrowed pattern is not widened.
 */
export async function grantPermissions(
  ctx: Ctx,
  user: string,
  vhost: string,
  operations: readonly Operation[],
): Promise<void> {
  const held = await readPermission(ctx, user, vhost)
  const before = held ?? { user, vhost, configure: NONE, write: NONE, read: NONE }
  const missing = operations.filter((one) => !operationsOf(before).includes(one))
  if (missing.length === 0) return
  const after = Object.fromEntries(missing.map((one) => [one, ALL]))
  await writePermission(ctx, { ...before, ...after })
}

/** Forbids an operation in a virtual host. Removes the record if it allows nothing any more. */
async function revokePermission(
  ctx: Ctx,
  user: string,
  vhost: string,
  operation: Operation,
): Promise<void> {
  const held = await readPermission(ctx, user, vhost)
  if (held === null) return mustExist(ctx, user, vhost)
  const after = { ...held, [operation]: NONE }
  if (operationsOf(after).length === 0) {
    await ifThere(service(ctx).delete(path`/permissions/${vhost}/${user}`))
  } else if (operationsOf(held).includes(operation)) {
    await writePermission(ctx, after)
  }
}

/** Closes a user's connections. Clients that may still connect can reconnect. */
async function endConnections(ctx: Ctx, user: string): Promise<void> {
  const ended = service(ctx).delete(path`/connections/username/${user}`)
  const isServed = (await ifThere(ended.then(() => true))) ?? false
  if (!isServed)
    ctx.log.warn('Connections of the user were not ended: the server is too old for it', { user })
}

const readPermission = (ctx: Ctx, user: string, vhost: string): Promise<Permission | null> =>
  ifThere(service(ctx).get<Permission>(path`/permissions/${vhost}/${user}`))

async function writePermission(ctx: Ctx, { user, vhost, ...patterns }: Permission): Promise<void> {
  const { configure, write, read } = patterns
  await service(ctx).put(path`/permissions/${vhost}/${user}`, { configure, write, read })
}

/**
 * Checks that the user and the virtual host exist. If there is no record, the server does not say which one
 * is missing.
 */
async function mustExist(ctx: Ctx, user: string, vhost: string): Promise<void> {
  await readUser(ctx, user)
  await vhostMustExist(ctx, vhost)
}

/**
 * Checks that a virtual host exists.
 *
 * @throws `not_found` if it is unknown
 */
export async function vhostMustExist(ctx: Ctx, vhost: string): Promise<void> {
  await service(ctx).get(path`/vhosts/${vhost}`, { query: { columns: 'name' } })
}
