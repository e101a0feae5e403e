/** Entitlements: roles, user groups, and channels. */
import { ConnectorError, chain, hasCode, type Output, type Paged, paged } from 'keyway/sdk'
import { isBot, type User } from './accounts.ts'
import { type Ctx, call, hasSlackCode, listing, type PagedListing } from './service.ts'

export const ROLE = 'ROLE'
export const USER_GROUP = 'USER_GROUP'
export const CHANNEL_MEMBERSHIP = 'CHANNEL_MEMBERSHIP'
const CHANNEL = 'CHANNEL'

/** Resource id of roles and user groups. */
export const WORKSPACE = ''

/** Id of every channel's only entitlement. */
export const MEMBER = 'member'

type Entitlement = Output<'list_entitlements'>[number]

export type Channel = {
  id: string
  name: string
  is_private?: boolean
  is_general?: boolean
  is_shared?: boolean
  purpose?: { value?: string }
}
export type UserGroup = {
  id: string
  name: string
  handle?: string
  description?: string
  /** Time of disabling, in seconds; 0 if the group is enabled. */
  date_delete?: number
  users?: string[]
}

/** Roles in the workspace, with labels. Every user has exactly one. */
const ROLES = {
  primary_owner: 'Primary owner',
  owner: 'Owner',
  admin: 'Admin',
  member: 'Member',
  multi_channel_guest: 'Guest of several channels',
  single_channel_guest: 'Guest of one channel',
  bot: 'Bot',
} as const
export type Role = keyof typeof ROLES

/** Returns the highest role of a user. An owner is an admin as well. */
export function roleOf(user: User): Role {
  if (user.is_primary_owner) return 'primary_owner'
  if (user.is_owner) return 'owner'
  if (user.is_admin) return 'admin'
  if (user.is_ultra_restricted) return 'single_channel_guest'
  if (user.is_restricted) return 'multi_channel_guest'
  return isBot(user) ? 'bot' : 'member'
}

/** Entitlement that can be granted, decoded from a request. */
export type Grant =
  | { type: typeof USER_GROUP; group: string }
  | { type: typeof CHANNEL_MEMBERSHIP; channel: string }

/**
 * Decodes the type, id and resource of a requested entitlement.
 *
 * @throws `bad_request` if no such entitlement can exist; `unsupported_operation` for a role
 */
export function grantOf(type: string, id: string, resource: string): Grant {
  if (id === '') throw wrong('an entitlement has an id')
  if (type === ROLE)
    throw new ConnectorError('unsupported_operation', 'Slack lets no app change roles')
  if (type === USER_GROUP) {
    if (resource !== WORKSPACE) throw wrong('a user group belongs to the whole workspace')
    return { type, group: id }
  }
  if (type === CHANNEL_MEMBERSHIP) {
    if (id !== MEMBER) throw wrong(`the one of each channel is ${MEMBER}, not ${id}`)
    if (resource === WORKSPACE) throw wrong('a membership belongs to a channel; name one')
    return { type, channel: resource }
  }
  throw wrong(`the types are ${ROLE}, ${USER_GROUP} and ${CHANNEL_MEMBERSHIP}, not ${type}`)
}

const wrong = (why: string) => new ConnectorError('bad_request', `No such entitlement: ${why}`)

/** Returns the types of channels to request, in Slack's notation. */
export const channelTypes = ({ settings }: Ctx): string =>
  settings.private_channels ? 'public_channel,private_channel' : 'public_channel'

/** Lists channels that are not archived. Private ones are listed only if the app is a member. */
export const channels = (ctx: Ctx): PagedListing<Channel> =>
  listing<Channel>(ctx, 'conversations.list', 'channels', {
    types: channelTypes(ctx),
    exclude_archived: true,
  })

/**
 * Returns the enabled user groups. The list has no pages, and is empty if the plan does not include user
 * groups.
 */
export async function readUserGroups(ctx: Ctx, more: object = {}): Promise<UserGroup[]> {
  if (!ctx.settings.user_groups) return []
  try {
    const answer = await call<{ usergroups: UserGroup[] }>(ctx, 'usergroups.list', { ...more })
    return answer.usergroups.filter((group) => !group.date_delete)
  } catch (error) {
    const noPlan = ['plan_upgrade_required', 'paid_teams_only', 'feature_not_enabled']
    if (hasCode(error, 'unsupported_operation') && hasSlackCode(error, ...noPlan)) return []
    throw error
  }
}

/** Returns one page of channels. */
export async function listResources(ctx: Ctx): Promise<Paged<Output<'list_resources'>>> {
  const page = await channels(ctx)(ctx.page)
  ctx.raw(page.response)
  const resources = page.response.map((channel) => ({
    integration_specific_id: channel.id,
    label: channel.name,
    resource_type: CHANNEL,
    description: channel.purpose?.value || null,
    extra_data: {
      is_private: String(channel.is_private ?? false),
      is_shared: String(channel.is_shared ?? false),
    },
  }))
  return paged(resources, page.cursor)
}

/** Returns one page of roles, then of user groups, then of channel memberships. */
export const listEntitlements = (ctx: Ctx): Promise<Paged<Entitlement[]>> =>
  chain<Entitlement>(ctx, {
    roles: async () =>
      Object.entries(ROLES).map(([id, label]) => ({
        entitlement_type: ROLE,
        integration_specific_id: id,
        integration_specific_resource_id: WORKSPACE,
        label,
        is_assignable: false,
      })),
    groups: async () =>
      (await readUserGroups(ctx)).map(({ id, name, description, handle }) => ({
        entitlement_type: USER_GROUP,
        integration_specific_id: id,
        integration_specific_resource_id: WORKSPACE,
        label: name,
        is_assignable: true,
        description: description || null,
        extra_data: { handle: handle ?? null },
      })),
    channels: async (at) => {
      const page = await channels(ctx)(at)
      return paged(
        page.response.map(({ id, name, is_general }) => ({
          entitlement_type: CHANNEL_MEMBERSHIP,
          integration_specific_id: MEMBER,
          integration_specific_resource_id: id,
          label: `Member of ${name}`,
          // Everyone except guests is in this channel and cannot leave it.
          is_assignable: is_general !== true,
        })),
        page.cursor,
      )
    },
  })
