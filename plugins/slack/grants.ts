/**
 * Adds people to channels and user groups, and removes them. The members of a user group can only be written
 * whole. `limits.concurrency` is 1 so that two changes do not interleave.
 */
import { ConnectorError, eachPage, type Input, type Output } from 'keyway/sdk'
import { readUser } from './accounts.ts'
import { type Grant, grantOf } from './entitlements.ts'
import { type Ctx, call, hasSlackCode, listing } from './service.ts'

/** Adds a person to a channel or a user group. Adding a member again is not an error. */
export async function assignEntitlement(
  request: Input<'assign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'assign_entitlement'>> {
  const user = request.account_integration_specific_id
  const grant = requested(request)
  if (grant.type === 'CHANNEL_MEMBERSHIP') await invite(ctx, grant.channel, user)
  else await changeGroup(ctx, grant.group, user, (users) => [...users, user])
  return { assigned: true }
}

/** Removes a person from a channel or a user group. Removing a person who is not a member is not an error. */
export async function unassignEntitlement(
  request: Input<'unassign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'unassign_entitlement'>> {
  const user = request.account_integration_specific_id
  const grant = requested(request)
  if (grant.type === 'CHANNEL_MEMBERSHIP') await kick(ctx, grant.channel, user)
  else await changeGroup(ctx, grant.group, user, (users) => users.filter((one) => one !== user))
  return { unassigned: true }
}

const requested = (request: Input<'assign_entitlement'>): Grant =>
  grantOf(
    request.entitlement_type,
    request.entitlement_integration_specific_id,
    request.resource_integration_specific_id,
  )

/** Invites a user to a channel. The app itself joins instead. */
async function invite(ctx: Ctx, channel: string, user: string): Promise<void> {
  try {
    await asMember(ctx, channel, () => call(ctx, 'conversations.invite', { channel, users: user }))
  } catch (error) {
    if (hasSlackCode(error, 'cant_invite_self')) await call(ctx, 'conversations.join', { channel })
    else if (!hasSlackCode(error, 'already_in_channel')) throw error
  }
}

/**
 * Removes a user from a channel. Slack reports `not_in_channel` both for the app and for the user to remove,
 * so membership is checked first.
 */
async function kick(ctx: Ctx, channel: string, user: string): Promise<void> {
  if (!(await isIn(ctx, channel, user))) {
    await readUser(ctx, user)
    return
  }
  try {
    await asMember(ctx, channel, () => call(ctx, 'conversations.kick', { channel, user }))
  } catch (error) {
    if (!hasSlackCode(error, 'user_not_in_channel')) throw error
  }
}

/**
 * Runs an operation that only members of the channel may perform. On failure, joins the channel and retries.
 * Apps can join public channels, but must be invited to private ones.
 */
async function asMember<T>(ctx: Ctx, channel: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!hasSlackCode(error, 'not_in_channel')) throw error
    await call(ctx, 'conversations.join', { channel })
    return work()
  }
}

async function isIn(ctx: Ctx, channel: string, user: string): Promise<boolean> {
  const members = listing<string>(ctx, 'conversations.members', 'members', { channel })
  for await (const page of eachPage(members)) if (page.includes(user)) return true
  return false
}

/**
 * Changes the members of a user group.
 *
 * @throws `unsupported_operation` for the last member, because a user group cannot be empty
 */
async function changeGroup(
  ctx: Ctx,
  usergroup: string,
  user: string,
  change: (users: string[]) => string[],
): Promise<void> {
  const { users } = await call<{ users: string[] }>(ctx, 'usergroups.users.list', { usergroup })
  const after = [...new Set(change(users))]
  if (after.length === users.length) {
    await readUser(ctx, user)
    return
  }
  if (after.length === 0)
    throw new ConnectorError(
      'unsupported_operation',
      'A user group has at least one member: disable it in Slack instead',
      { app_error_code: 'last_member' },
    )
  await call(ctx, 'usergroups.users.update', { usergroup, users: after.join() })
}
