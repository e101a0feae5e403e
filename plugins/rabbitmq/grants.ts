/**
 * Granting and taking. A user and a permission record are always written whole, so every change is
 * read, change, write; `limits.concurrency` is 1 so that no two of them cross.
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
import { mustNotBeOwn } from './own.ts'
import { type Ctx, service } from './service.ts'

/** Patterns of a permission: all names, and none. */
const ALL = '.*'
const NONE = '^$'

/** Gives a tag or a permission; what is held already stays as it is. */
export async function assignEntitlement(
  request: Input<'assign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'assign_entitlement'>> {
  const user = request.account_integration_specific_id
  const grant = requested(request)
  if (grant.type === 'TAG') {
    const tag = givenTag(grant.tag)
    await changeTags(ctx, user, (tags) => [...tags, tag])
  } else await allow(ctx, user, grant.vhost, [grant.operation])
  return { assigned: true }
}

/**
 * Takes a tag or a permission; taking what is not held is no error. An open connection keeps what it has been found to
 * have, a consumer for good: those of who loses a permission or may impersonate no more are ended.
 *
 * @throws unsupported_operation for the tag administrator of the user that the connector logs in as.
 */
export async function unassignEntitlement(
  request: Input<'unassign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'unassign_entitlement'>> {
  const user = request.account_integration_specific_id
  const grant = requested(request)
  if (grant.type === 'TAG') {
    if (grant.tag === ADMINISTRATOR) await mustNotBeOwn(ctx, user, 'stops being an administrator')
    await changeTags(ctx, user, (tags) => tags.filter((tag) => tag !== grant.tag))
  } else {
    await forbid(ctx, user, grant.vhost, grant.operation)
  }
  // Also where it was gone already: who took it may have got no further.
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

/** What a user's record is replaced by: the password by its hash, or a new one. */
type Written = Pick<WholeUser, 'name' | 'tags'> &
  (Pick<WholeUser, 'password_hash' | 'hashing_algorithm'> | { password: string })

/**
 * Replaces a user that is there. The server would create one that was deleted in the meantime, if it
 * were not for `If-Match`.
 *
 * @throws not_found when the user is gone.
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
 * Allows operations in a virtual host, on all names. An operation that is allowed on some names
 * already stays so: what a person narrowed on purpose is not widened by the way.
 */
export async function allow(
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

/** Forbids an operation in a virtual host; a record that allows nothing any more is removed. */
async function forbid(ctx: Ctx, user: string, vhost: string, operation: Operation): Promise<void> {
  const held = await readPermission(ctx, user, vhost)
  if (held === null) return mustExist(ctx, user, vhost)
  const after = { ...held, [operation]: NONE }
  if (operationsOf(after).length === 0) {
    await ifThere(service(ctx).delete(path`/permissions/${vhost}/${user}`))
  } else if (operationsOf(held).includes(operation)) {
    await writePermission(ctx, after)
  }
}

/** Ends what a user is connected by, and clients that may connect again do so. */
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

/** Without a record, the server does not tell whether it is the user or the virtual host that is missing. */
async function mustExist(ctx: Ctx, user: string, vhost: string): Promise<void> {
  await readUser(ctx, user)
  await vhostMustExist(ctx, vhost)
}

/** @throws not_found for an unknown virtual host. */
export async function vhostMustExist(ctx: Ctx, vhost: string): Promise<void> {
  await service(ctx).get(path`/vhosts/${vhost}`, { query: { columns: 'name' } })
}
