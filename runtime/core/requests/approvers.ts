/** Who decides: resolved at the moment when a stage begins, so that nobody is asked who has left. */
import { and, eq, inArray, notInArray, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import { groupMembers, users } from '../../database/schema/people.ts'
import type { Approvers } from '../../database/schema/requests.ts'
import { adminIds } from '../people/admins.ts'
import type { RequestRow } from './move.ts'

const GONE = ['SUSPENDED', 'INACTIVE'] as const

/** Who a request is of and for. */
type Parties = Pick<RequestRow, 'requesterId' | 'targetUserId'>
/** And where. */
type PartiesOfApp = Parties & Pick<RequestRow, 'appId' | 'domainId'>

/** Those who may not decide on a request: who asked, and who is to have the access. */
export const partiesOf = ({ requesterId, targetUserId }: Parties): string[] => [
  ...new Set([targetUserId, ...(requesterId === null ? [] : [requesterId])]),
]

/** The ids of users that are there and may act, without some. */
async function able(db: Db, ids: readonly string[], without: readonly string[]): Promise<string[]> {
  const wanted = ids.filter((id) => !without.includes(id))
  if (wanted.length === 0) return []
  const rows = await db
    .select({ id: users.id })
    .from(users)
    .where(and(inArray(users.id, wanted), notInArray(users.status, [...GONE])))
  return rows.map(({ id }) => id)
}

/** Groups with at least one member who may act and is no party. */
async function ableGroups(db: Db, ids: readonly string[], without: readonly string[]) {
  if (ids.length === 0) return []
  const rows = await db
    .selectDistinct({ id: groupMembers.groupId })
    .from(groupMembers)
    .innerJoin(users, eq(users.id, groupMembers.userId))
    .where(
      and(
        inArray(groupMembers.groupId, [...ids]),
        notInArray(users.status, [...GONE]),
        without.length > 0 ? notInArray(users.id, [...without]) : undefined,
      ),
    )
  return rows.map(({ id }) => id)
}

/** Those of some who may decide on a request; null where nobody is left. */
export async function eligible(
  db: Db,
  request: Parties,
  { users: people, groups }: Approvers,
): Promise<Approvers | null> {
  const parties = partiesOf(request)
  const found = {
    users: await able(db, people, parties),
    groups: await ableGroups(db, groups, parties),
  }
  return found.users.length + found.groups.length > 0 ? found : null
}

/** Longest chain of managers that is followed. */
const MAX_MANAGERS = 50

/**
 * The manager who decides: the target's, or where that one is a party or gone, the next one above. Null
 * where there is none; a chain that closes to a ring ends.
 */
export async function managerOf(db: Db, request: RequestRow): Promise<string | null> {
  const parties = partiesOf(request)
  const seen = new Set<string>()
  let below: string | null = request.targetUserId
  while (below !== null && seen.size < MAX_MANAGERS) {
    seen.add(below)
    const [row]: { managerId: string | null }[] = await db
      .select({ managerId: users.managerId })
      .from(users)
      .where(eq(users.id, below))
    const above: string | null = row?.managerId ?? null
    if (above === null || seen.has(above)) return null
    const [one] = await able(db, [above], parties)
    if (one !== undefined) return one
    below = above
  }
  return null
}

/**
 * Who decides, or does by hand, where nobody else is named: the admins of the app, else those of the
 * domain; at the very last a party who is an admin, because nobody else could.
 */
export async function admins(db: Db, request: PartiesOfApp): Promise<Approvers> {
  const [app] = await db
    .select({ users: apps.adminUserIds, groups: apps.adminGroupIds })
    .from(apps)
    .where(eq(apps.id, request.appId))
  const ofApp = await eligible(db, request, app ?? { users: [], groups: [] })
  if (ofApp) return ofApp
  const all = await adminIds(db, request.domainId)
  const others = await able(db, all, partiesOf(request))
  return { users: others.length > 0 ? others : all, groups: [] }
}

/** Those who do work by hand for an app; parties among them, for there is nothing to decide. */
export async function doers(db: Db, request: PartiesOfApp): Promise<Approvers> {
  return admins(db, { ...request, requesterId: null, targetUserId: NOBODY })
}

/** An id that no user has. */
const NOBODY = '00000000-0000-0000-0000-000000000000'

/** Whether a user may decide on a request in this task: no party, unless asked by name because nobody else is there. */
export async function mayDecide(
  db: Db,
  request: RequestRow,
  userId: string,
  taskId: string,
): Promise<boolean> {
  if (!partiesOf(request).includes(userId)) return true
  const { rows } = await db.execute(
    sql`select from task_assignees where task_id = ${taskId} and user_id = ${userId}`,
  )
  return rows.length > 0
}
