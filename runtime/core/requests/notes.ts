/**
 * Readers of a request's notes. Everyone who sees the request reads what people wrote and decided. Only
 * people who may read the tasks of its app read failures, which contain names and system answers. Others read
 * a general text and whom to ask.
 */

import { and, asc, eq, inArray } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { type AppRow, apps } from '../../database/schema/apps.ts'
import { userRoles, users } from '../../database/schema/people.ts'
import type { RequestRow } from '../../database/schema/requests.ts'
import { groupsByName } from '../directory/users.ts'
import { isReachRefused, reach } from '../kernel/identity/app-reach.ts'
import { type Principal, usersWhoMayAct } from '../kernel/identity/principal.ts'
import { failureMessage } from './machine/states.ts'

/** Returns the apps, among those given, whose tasks the caller may read. */
export async function detailedApps(
  db: Db,
  principal: Principal,
  appIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (isReachRefused(principal, 'tasks.read')) return new Set()
  const ofApps = reach(principal, 'tasks.read')
  if (ofApps === undefined) return new Set(appIds)
  const rows = await db
    .select({ id: apps.id })
    .from(apps)
    .where(and(inArray(apps.id, [...appIds]), ofApps))
  return new Set(rows.map(({ id }) => id))
}

/** Returns the notes as shown to a reader without access to details. */
export function plainNotes(
  notes: RequestRow['notes'],
  whoToAsk: string | undefined,
): RequestRow['notes'] {
  return Object.fromEntries(
    Object.entries(notes).map(([status, note]) => {
      const plain = note === null ? null : failureMessage(status)
      return [status, plain === null ? note : `${plain} ${whoToAsk ?? ''}`.trim()]
    }),
  )
}

/** Maximum number of people and groups named as contacts. */
const MAX_NAMED = 3

/** Returns a sentence for each app naming whom to ask: its admins, or those of the domain. Three queries. */
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

/** Reports whether notes contain details that not every reader may see. */
export const haveDetails = ({ notes }: Pick<RequestRow, 'notes'>): boolean =>
  Object.entries(notes).some(([status, note]) => note !== null && failureMessage(status) !== null)
