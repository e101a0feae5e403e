/** Groups and their members. */
import type { Listing } from 'keyway/sdk'
import { path } from 'keyway/sdk'
import { type Ctx, customer, directory, listing } from './service.ts'

export type Group = { id: string; name: string; email: string; description?: string }

/**
 * Member of a group. `id` is missing for the entry that means all users of the customer, and for addresses
 * without a Google account.
 */
export type Member = { id?: string; email?: string; role?: string; type?: string }

/** Roles in a group, with labels. */
export const GROUP_ROLES = {
  MEMBER: 'Member',
  MANAGER: 'Manager',
  OWNER: 'Owner',
} as const
export type GroupRole = keyof typeof GROUP_ROLES

export const isGroupRole = (name: string): name is GroupRole => Object.hasOwn(GROUP_ROLES, name)

/** Maximum page size of groups and of members. */
const MAX_GROUPS = 200

/** Lists the groups of the customer, or those with one user as a direct member. */
export const groups = (ctx: Ctx, user?: string): Listing<Group> =>
  listing<Group>(directory(ctx), {
    path: '/groups',
    items: 'groups',
    most: MAX_GROUPS,
    query: user === undefined ? { customer: customer(ctx) } : { userKey: user },
  })

/** Lists the direct members of a group. */
export const members = (ctx: Ctx, group: string): Listing<Member> =>
  listing<Member>(directory(ctx), {
    path: path`/groups/${group}/members`,
    items: 'members',
    most: MAX_GROUPS,
  })

/**
 * Reports whether a member is a user. Nested groups and the entry for all users of the customer are not
 * accounts.
 */
export const isUser = (member: Member): member is Member & { id: string; role: GroupRole } =>
  member.type === 'USER' && member.id !== undefined && Object.hasOwn(GROUP_ROLES, member.role ?? '')
