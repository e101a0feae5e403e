/** Groups and their members. */
import { type Listing, path } from 'keyway/sdk'
import { type Ctx, listing, service } from './service.ts'
import type { Profile, User } from './users.ts'

export const GROUP = 'GROUP'

/** Resource id of groups: the organisation itself. */
export const ORGANIZATION = ''

export type Group = {
  id: string
  /** Okta allows adding people only to an OKTA_GROUP. */
  type: 'OKTA_GROUP' | 'APP_GROUP' | 'BUILT_IN'
  profile: Profile & { name: string; description?: string | null }
}

/** Lists all groups. */
export const groups = (ctx: Ctx): Listing<Group> => listing<Group>(ctx, '/groups')

/** Lists the members of a group. */
export const membersOf = (ctx: Ctx, groupId: string): Listing<User> =>
  listing<User>(ctx, path`/groups/${groupId}/users`)

/** Adds a person to a group. Adding a member again is not an error. */
export async function putIntoGroup(ctx: Ctx, groupId: string, userId: string): Promise<void> {
  await service(ctx).put(path`/groups/${groupId}/users/${userId}`)
}

/** Removes a person from a group. Removing a person who is not a member is not an error. */
export async function takeFromGroup(ctx: Ctx, groupId: string, userId: string): Promise<void> {
  await service(ctx).delete(path`/groups/${groupId}/users/${userId}`)
}
