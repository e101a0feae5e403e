/** Apps and permissions that a person finds in the store but may not request. */

import { and, asc, eq, inArray } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { type PermissionRow, requestablePermissions } from '../../database/schema/app_store.ts'
import { users } from '../../database/schema/people.ts'
import { foundIn } from '../catalogue/store/permissions.ts'
import { settingsView } from '../catalogue/store/settings-view.ts'
import { findAllInStore, findInStore, type VisibleApp } from '../catalogue/store/visibility.ts'
import { groupsByName } from '../directory/users.ts'
import { isId } from '../kernel/by-id.ts'
import { groupIdsOf } from '../kernel/identity/app-reach.ts'
import { type Principal, usersWhoMayAct } from '../kernel/identity/principal.ts'
import { allowedFor } from '../requests/eligible-people.ts'

/**
 * Groups that may request it, and admins to contact. `groups` is empty if the caller may not read group
 * names.
 */
export type Closed = { groups: string[]; admins: string[] }

/** Maximum number of names of each kind. */
const MAX_NAMED = 3
/** Maximum number of permissions examined per app. */
const MAX_LOOKED_AT = 100

/**
 * Returns why the caller may not request a permission, or the app itself if `permissionId` is null. Null if
 * they may.
 *
 * @throws CoreError `not_found` if the caller does not find the app in the store
 */
export async function closedFor(
  db: Db,
  principal: Principal,
  appId: string,
  permissionId: string | null,
): Promise<Closed | null> {
  const found = await findInStore(db, principal, appId)
  const [closed] = await closedOnes(db, principal, [{ found, permissionId }])
  return closed ? ((await told(db, principal, [closed]))[0] ?? null) : null
}

/**
 * Returns the same, by app id, for apps in which the caller may request nothing at all. Other apps have no
 * entry. The number of statements does not grow with the number of apps.
 */
export async function closedApps(
  db: Db,
  principal: Principal,
  appIds: readonly string[],
): Promise<ReadonlyMap<string, Closed>> {
  const apps = [...(await findAllInStore(db, principal, appIds)).values()]
  const whole = await closedOnes(
    db,
    principal,
    apps.map((found) => ({ found, permissionId: null })),
  )
  const open = await openedByPermissions(db, principal, whole)
  const closed = whole.filter(({ found }) => !open.has(found.app.id))
  const words = await told(db, principal, closed)
  return new Map(words.map((one, at) => [closed[at]?.found.app.id ?? '', one]))
}

type Wanted = { found: VisibleApp; permissionId: string | null }
type ClosedOne = { found: VisibleApp; allowed: readonly string[] }

/** Returns the subjects that are restricted to groups of which the caller is not a member. */
async function closedOnes(
  db: Db,
  { userId }: Principal,
  wanted: readonly Wanted[],
): Promise<ClosedOne[]> {
  const withIds = wanted.map(({ found, permissionId }) => {
    const { provisioning } = settingsView(found.app, found.settings)
    return { found, id: permissionId ?? provisioning.default_permission }
  })
  const ids = withIds.flatMap(({ id }) => (id !== null && isId(id) ? [id] : []))
  const of = requestablePermissions
  const rows = ids.length === 0 ? [] : await db.select().from(of).where(inArray(of.id, ids))
  const restricted = withIds.flatMap(({ found, id }) => {
    const own = rows.find((one) => one.id === id && one.appId === found.app.id) ?? null
    const allowed = allowedFor(found, own)
    return allowed === null ? [] : [{ found, allowed }]
  })
  if (restricted.length === 0) return []
  const mine = await groupIdsOf(db, userId)
  return restricted.filter(({ allowed }) => !allowed.some((id) => mine.has(id)))
}

/**
 * Returns the ids of closed apps in which the caller may still request a permission that has its own allowed
 * groups.
 */
async function openedByPermissions(
  db: Db,
  principal: Principal,
  closed: readonly ClosedOne[],
): Promise<ReadonlySet<string>> {
  if (closed.length === 0) return new Set()
  const apps = closed.map(({ found }) => found)
  const of = requestablePermissions
  const rows = await db
    .select()
    .from(of)
    .where(
      and(
        foundIn(principal, apps),
        eq(of.visibility, 'VISIBLE'),
        eq(of.allowedGroupsOverride, true),
      ),
    )
    .orderBy(asc(of.id))
    .limit(MAX_LOOKED_AT * apps.length)
  const mine = await groupIdsOf(db, principal.userId)
  const isOpen = (row: PermissionRow): boolean => {
    const found = apps.find(({ app }) => app.id === row.appId)
    const allowed = found && allowedFor(found, row)
    return allowed === null || allowed?.some((id) => mine.has(id)) === true
  }
  return new Set(rows.filter(isOpen).map(({ appId }) => appId))
}

/**
 * Returns, for each closed app, the groups that may request it and the admins to contact, in the given order.
 */
async function told(
  db: Db,
  { permissions }: Principal,
  closed: readonly ClosedOne[],
): Promise<Closed[]> {
  if (closed.length === 0) return []
  const mayRead = permissions.has('groups.read')
  const teamIds = mayRead
    ? closed.flatMap(({ found, allowed }) => [...allowed, ...found.app.adminGroupIds])
    : []
  const teams = await groupsByName(db, teamIds)
  const adminIds = closed.flatMap(({ found }) => found.app.adminUserIds)
  const people =
    adminIds.length === 0
      ? []
      : await db
          .select({
            ...{ id: users.id, email: users.email },
            ...{ given: users.givenName, family: users.familyName },
          })
          .from(users)
          .where(and(inArray(users.id, [...new Set(adminIds)]), usersWhoMayAct(users)))
          .orderBy(asc(users.email))
  const named = (ids: readonly string[]) =>
    teams.filter(({ id }) => ids.includes(id)).slice(0, MAX_NAMED)
  return closed.map(({ found: { app }, allowed }) => ({
    groups: named(allowed).map(({ name }) => name),
    admins: [
      ...people
        .filter(({ id }) => app.adminUserIds.includes(id))
        .slice(0, MAX_NAMED)
        .map(({ given, family, email }) => `${given} ${family}`.trim() || email),
      ...named(app.adminGroupIds).map(({ name }) => name),
    ],
  }))
}
