/** Groups, and who is in them. */
import type { Listing } from 'keyway/sdk'
import { path } from 'keyway/sdk'
import { type Ctx, customer, directory, listing } from './service.ts'

export type Group = { id: string; name: string; email: string; description?: string }

/** `id` is missing for everybody of the customer, and for addresses that are no Google accounts. */
export type Member = { id?: string; email?: string; role?: string; type?: string }

/** What a person may do in a group. */
export const GROUP_ROLES = {
  MEMBER: 'Member',
  MANAGER: 'Manager',
  OWNER: 'Owner',
} as const
export type GroupRole = keyof typeof GROUP_ROLES

export const isGroupRole = (name: string): name is GroupRole => Object.hasOwn(GROUP_ROLES, name)

/** Most groups, and most members, that Google gives at once. */
const MAX_GROUPS = 200

/** The groups of the customer, or those that one user is directly in. */
export const groups = (ctx: Ctx, user?: string): Listing<Group> =>
  listing<Group>(directory(ctx), {
    path: '/groups',
    items: 'groups',
    most: MAX_GROUPS,
    query: user === undefined ? { customer: customer(ctx) } : { userKey: user },
  })

/** Who is directly in a group. */
export const members = (ctx: Ctx, group: string): Listing<Member> =>
  listing<Member>(directory(ctx), {
    path: path`/groups/${group}/members`,
    items: 'members',
    most: MAX_GROUPS,
  })

/** Groups in groups, and everybody of the customer, are no accounts. */
export const isUser = (member: Member): member is Member & { id: string; role: GroupRole } =>
  member.type === 'USER' && member.id !== undefined && Object.hasOwn(GROUP_ROLES, member.role ?? '')
