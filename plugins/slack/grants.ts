/**
 * Into channels and user groups, and out of them. The members of a user group are always written whole;
 * `limits.concurrency` is 1 so that no two changes cross.
 */
import { ConnectorError, eachPage, type Input, type Output } from 'keyway/sdk'
import { readUser } from './accounts.ts'
import { type Grant, grantOf } from './entitlements.ts'
import { type Ctx, call, listing, said } from './service.ts'

/** Puts a person into a channel or a user group; who is in it stays. */
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

/** Takes a person out of a channel or a user group; who is not in it is no error. */
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

/** The app itself comes in by joining. */
async function invite(ctx: Ctx, channel: string, user: string): Promise<void> {
  try {
    await asMember(ctx, channel, () => call(ctx, 'conversations.invite', { channel, users: user }))
  } catch (error) {
    if (said(error, 'cant_invite_self')) await call(ctx, 'conversations.join', { channel })
    else if (!said(error, 'already_in_channel')) throw error
  }
}

/** Slack says `not_in_channel` of the app, and of the user that it is to take out, so members are looked at first. */
async function kick(ctx: Ctx, channel: string, user: string): Promise<void> {
  if (!(await isIn(ctx, channel, user))) {
    await readUser(ctx, user)
    return
  }
  try {
    await asMember(ctx, channel, () => call(ctx, 'conversations.kick', { channel, user }))
  } catch (error) {
    if (!said(error, 'user_not_in_channel')) throw error
  }
}

/** Only who is in a channel changes who is in it. Apps may join public ones, and are asked into others. */
async function asMember<T>(ctx: Ctx, channel: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!said(error, 'not_in_channel')) throw error
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
 * Changes who is in a user group.
 *
 * @throws unsupported_operation for the last member: a user group has one.
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
