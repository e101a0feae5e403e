/**
 * Who reads what of a request's notes. What people wrote, and what was decided, everybody does who sees the
 * request; what failed, with names and answers of systems, only those who may read the tasks of its app. The
 * others read what happened, and who to ask.
 */

import { and, asc, eq, inArray } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { type AppRow, apps } from '../../database/schema/apps.ts'
import { userRoles, users } from '../../database/schema/people.ts'
import type { RequestRow } from '../../database/schema/requests.ts'
import { groupsByName } from '../directory/users.ts'
import { reach, reachesNone } from '../kernel/identity/app-reach.ts'
import { type Principal, usersWhoMayAct } from '../kernel/identity/principal.ts'
import { failedWords } from './machine/states.ts'

/** Which of some apps the caller may read the tasks of. */
export async function detailedApps(
  db: Db,
  principal: Principal,
  appIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (reachesNone(principal, 'tasks.read')) return new Set()
  const ofApps = reach(principal, 'tasks.read')
  if (ofApps === undefined) return new Set(appIds)
  const rows = await db
    .select({ id: apps.id })
    .from(apps)
    .where(and(inArray(apps.id, [...appIds]), ofApps))
  return new Set(rows.map(({ id }) => id))
}

/** Notes as a reader without details gets them. */
export function plainNotes(
  notes: RequestRow['notes'],
  whoToAsk: string | undefined,
): RequestRow['notes'] {
  return Object.fromEntries(
    Object.entries(notes).map(([status, note]) => {
      const plain = note === null ? null : failedWords(status)
      return [status, plain === null ? note : `${plain} ${whoToAsk ?? ''}`.trim()]
    }),
  )
}

/** Most people and groups that are named as those to ask. */
const MAX_NAMED = 3

/** A sentence for each app that says who to ask: its admins, else those of the domain. In three questions. */
export async function whoToAsk(
  db: Db,
  domainId: string,
  asked: readonly Pick<AppRow, 'id' | 'adminUserIds' | 'adminGroupIds'>[],
): Promise<ReadonlyMap<string, string>> {
  if (asked.length === 0) return new Map()
  const mayAct = usersWhoMayAct(users)
  const userIds = [...new Set(asked.flatMap(({ adminUserIds }) => adminUserIds))]
  const people =
    userIds.length === 0
      ? []
      : await db
          .select({ id: users.id, name: users.email })
          .from(users)
          .where(and(inArray(users.id, userIds), mayAct))
          .orderBy(asc(users.email))
  const teams = await groupsByName(
    db,
    asked.flatMap(({ adminGroupIds }) => adminGroupIds),
  )
  const everywhere = await db
    .selectDistinct({ name: users.email })
    .from(userRoles)
    .innerJoin(users, eq(users.id, userRoles.userId))
    .where(and(eq(userRoles.domainId, domainId), eq(userRoles.role, 'Admin'), mayAct))
    .orderBy(asc(users.email))
    .limit(MAX_NAMED)
  return new Map(
    asked.map((app) => {
      const own = [
        ...people.filter(({ id }) => app.adminUserIds.includes(id)).map(({ name }) => name),
        ...teams
          .filter(({ id }) => app.adminGroupIds.includes(id))
          .map(({ name }) => `the group ${JSON.stringify(name)}`),
      ]
      const named = own.length > 0 ? own : everywhere.map(({ name }) => name)
      const words = named.slice(0, MAX_NAMED).join(' or ')
      return [app.id, words === '' ? 'Ask an admin.' : `Ask an admin: ${words}.`]
    }),
  )
}

/** Whether notes hold something that not everybody reads. */
export const haveDetails = ({ notes }: Pick<RequestRow, 'notes'>): boolean =>
  Object.entries(notes).some(([status, note]) => note !== null && failedWords(status) !== null)
