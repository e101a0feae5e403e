/** Associations of users with roles, user groups and channels. */
import {
  allItems,
  chain,
  type Input,
  type Listing,
  nested,
  type Output,
  type Paged,
  paged,
} from 'keyway/sdk'
import { readUser, type User, users } from './accounts.ts'
import {
  type Channel,
  channels,
  channelTypes,
  MEMBER,
  readUserGroups,
  roleOf,
  WORKSPACE,
} from './entitlements.ts'
import { type Ctx, call, listing } from './service.ts'

type Association = Output<'find_entitlement_associations'>[number]

/** Returns one page of roles, then of user group members, then of channel members. */
export const findAssociations = (ctx: Ctx): Promise<Paged<Association[]>> =>
  chain<Association>(ctx, {
    async roles(at) {
      const page = await users(ctx)(at)
      return paged(page.response.map(role), page.cursor)
    },
    groups: nested(
      () => readUserGroups(ctx),
      ({ id: usergroup }) =>
        async () => {
          const answer = await call<{ users: string[] }>(ctx, 'usergroups.users.list', {
            usergroup,
          })
          return answer.users.map((user) => inGroup(user, usergroup))
        },
    ),
    channels: nested(channels(ctx), ({ id }) => members(ctx, id)),
  })

const members =
  (ctx: Ctx, channel: string): Listing<Association> =>
  async (at) => {
    const list = listing<string>(ctx, 'conversations.members', 'members', { channel })
    const page = await list(at)
    return paged(
      page.response.map((user) => inChannel(user, channel)),
      page.cursor,
    )
  }

/**
 * Returns all associations of one user.
 *
 * @throws `not_found` if the user is unknown
 */
export async function getAccountAssociations(
  { account_id: id }: Input<'get_account_entitlement_associations'>,
  ctx: Ctx,
): Promise<Association[]> {
  const user = await readUser(ctx, id)
  const groups = await readUserGroups(ctx, { include_users: true })
  const memberOf = await allItems(
    listing<Channel>(ctx, 'users.conversations', 'channels', {
      user: id,
      types: channelTypes(ctx),
      exclude_archived: true,
    }),
  )
  ctx.raw({ user, usergroups: groups, channels: memberOf })
  return [
    role(user),
    ...groups.filter((one) => one.users?.includes(id)).map((one) => inGroup(id, one.id)),
    ...memberOf.map((channel) => inChannel(id, channel.id)),
  ]
}

const role = (user: User): Association => ({
  account_id: user.id,
  integration_specific_entitlement_id: roleOf(user),
  integration_specific_resource_id: WORKSPACE,
})

const inGroup = (user: string, group: string): Association => ({
  account_id: user,
  integration_specific_entitlement_id: group,
  integration_specific_resource_id: WORKSPACE,
})

const inChannel = (user: string, channel: string): Association => ({
  account_id: user,
  integration_specific_entitlement_id: MEMBER,
  integration_specific_resource_id: channel,
})
