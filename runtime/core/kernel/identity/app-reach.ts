/**
 * Reach of a permission over apps. A caller with the permission reaches every app. An App Admin reaches the
 * apps that list them as an admin, directly or through a group. Both the role and the listing are needed:
 * losing the role takes effect at once, and the role alone opens nothing.
 */
import { eq, type SQL, sql } from 'drizzle-orm'
import type { Permission } from '../../../contract/models/roles.ts'
import type { Db } from '../../../database/database.ts'
import { apps } from '../../../database/schema/apps.ts'
import { groupMembers } from '../../../database/schema/people.ts'
import { type Principal, requirePermission } from './principal.ts'

/**
 * Returns the condition on `apps` that the caller reaches, or undefined if every app is reached.
 *
 * @throws CoreError `forbidden` if the caller's roles reach no app
 */
export function reach(principal: Principal, permission: Permission): SQL | undefined {
  if (principal.permissions.has(permission)) return undefined
  if (!principal.roles.includes('App Admin')) requirePermission(principal, permission)
  const { userId } = principal
  return sql`(${apps.adminUserIds} @> array[${userId}]::uuid[] or ${apps.adminGroupIds} && ${groupArrayOf(userId)})`
}

/** Returns an SQL array of the ids of a user's groups. */
export const groupArrayOf = (userId: string): SQL =>
  sql`array(select ${groupMembers.groupId} from ${groupMembers} where ${groupMembers.userId} = ${userId})`

/** Reads the ids of a user's groups. */
export async function groupIdsOf(db: Db, userId: string): Promise<ReadonlySet<string>> {
  const { groupId } = groupMembers
  const rows = await db
    .select({ groupId })
    .from(groupMembers)
    .where(eq(groupMembers.userId, userId))
  return new Set(rows.map((one) => one.groupId))
}

/** Reports whether `reach` would refuse the caller. */
export const isReachRefused = (
  { permissions, roles }: Principal,
  permission: Permission,
): boolean => !permissions.has(permission) && !roles.includes('App Admin')

/**
 * Returns an SQL array of the ids of the apps that meet a condition. As an array, it keeps an `or` next to it
 * answerable by an index.
 */
export const idsOfApps = (condition: SQL): SQL =>
  sql`array(select ${apps.id} from ${apps} where ${condition})`
