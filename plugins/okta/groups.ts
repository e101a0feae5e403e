/** Groups: what there is, and who is in them. */
import { type Listing, path } from 'keyway/sdk'
import { type Ctx, listing, service } from './service.ts'
import type { Profile, User } from './users.ts'

export const GROUP = 'GROUP'

/** The organisation itself, to which groups belong. */
export const ORGANIZATION = ''

export type Group = {
  id: string
  /** Okta lets people be put into an OKTA_GROUP only. */
  type: 'OKTA_GROUP' | 'APP_GROUP' | 'BUILT_IN'
  profile: Profile & { name: string; description?: string | null }
}

/** All groups. */
export const groups = (ctx: Ctx): Listing<Group> => listing<Group>(ctx, '/groups')

/** Who is in a group. */
export const membersOf = (ctx: Ctx, groupId: string): Listing<User> =>
  listing<User>(ctx, path`/groups/${groupId}/users`)

/** Puts a person into a group; who is in it already stays. */
export async function putIntoGroup(ctx: Ctx, groupId: string, userId: string): Promise<void> {
  await service(ctx).put(path`/groups/${groupId}/users/${userId}`)
}

/** Takes a person out of a group; who is not in it is left alone. */
export async function takeFromGroup(ctx: Ctx, groupId: string, userId: string): Promise<void> {
  await service(ctx).delete(path`/groups/${groupId}/users/${userId}`)
}
