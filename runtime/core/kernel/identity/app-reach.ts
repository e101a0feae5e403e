/**
 * How far a permission over apps reaches. Who has it reaches every app; an App Admin reaches the apps that
 * list them, directly or through a group, as an admin. Both are needed: losing the role takes effect at
 * once, and the role alone opens nothing.
 */
import { eq, type SQL, sql } from 'drizzle-orm'
import type { Permission } from '../../../contract/models/roles.ts'
import type { Db } from '../../../database/database.ts'
import { apps } from '../../../database/schema/apps.ts'
import { groupMembers } from '../../../database/schema/people.ts'
import { demand, type Principal } from './principal.ts'

/**
 * A condition on `apps`: undefined where every app is reached.
 *
 * @throws CoreError forbidden for a caller who reaches none by his roles.
 */
export function reach(principal: Principal, permission: Permission): SQL | undefined {
  if (principal.permissions.has(permission)) return undefined
  if (!principal.roles.includes('App Admin')) demand(principal, permission)
  const { userId } = principal
  return sql`(${apps.adminUserIds} @> array[${userId}]::uuid[] or ${apps.adminGroupIds} && ${groupArrayOf(userId)})`
}

/** The ids of a user's groups, as an array in SQL. */
export const groupArrayOf = (userId: string): SQL =>
  sql`array(select ${groupMembers.groupId} from ${groupMembers} where ${groupMembers.userId} = ${userId})`

/** The same as values. */
export async function groupIdsOf(db: Db, userId: string): Promise<ReadonlySet<string>> {
  const { groupId } = groupMembers
  const rows = await db
    .select({ groupId })
    .from(groupMembers)
    .where(eq(groupMembers.userId, userId))
  return new Set(rows.map((one) => one.groupId))
}

/** Whether `reach` would refuse the caller altogether. */
export const reachesNone = ({ permissions, roles }: Principal, permission: Permission): boolean =>
  !permissions.has(permission) && !roles.includes('App Admin')

/** The ids of the apps under a condition, as an array in SQL: beside an `or`, an index is asked with nothing else. */
export const idsOfApps = (condition: SQL): SQL =>
  sql`array(select ${apps.id} from ${apps} where ${condition})`
