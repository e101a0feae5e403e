/** What a person finds in the store, but may not ask for. */
import { and, asc, eq, inArray, notInArray } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { requestablePermissions } from '../../database/schema/app_store.ts'
import { groups, users } from '../../database/schema/people.ts'
import { settingsView } from '../catalogue/store/settings-view.ts'
import { findInStore, permissionsFoundBy } from '../catalogue/store/visibility.ts'
import { isId } from '../kernel/id.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { closedBy } from '../requests/open-to.ts'

/** Who may request it, and the admins to contact; `groups` is empty if the caller may not read group names. */
export type Closed = { groups: string[]; admins: string[] }

/** Most names of a kind. */
const MAX_NAMED = 3
/** Most permissions of an app that are looked at. */
const MAX_LOOKED_AT = 100

/**
 * Why the caller may not ask for a permission, or with null for the app itself; null where they may.
 *
 * @throws CoreError not_found for an app that the caller does not find in the store
 */
export async function closedFor(
  db: Db,
  principal: Principal,
  appId: string,
  permissionId: string | null,
): Promise<Closed | null> {
  const found = await findInStore(db, principal, appId)
  const view = settingsView(found.app, found.settings)
  const id = permissionId ?? view.provisioning.default_permission
  const of = requestablePermissions
  const [permission = null] =
    id !== null && isId(id)
      ? await db
          .select()
          .from(of)
          .where(and(eq(of.id, id), eq(of.appId, found.app.id)))
      : []
  const ids = await closedBy(db, found, permission, principal.userId)
  return ids && told(db, principal, found.app, ids)
}

/** The same for an app of which nothing at all may be asked for. @throws CoreError not_found */
export async function appClosedFor(
  db: Db,
  principal: Principal,
  appId: string,
): Promise<Closed | null> {
  const whole = await closedFor(db, principal, appId, null)
  if (whole === null) return null
  const found = await findInStore(db, principal, appId)
  const of = requestablePermissions
  const rows = await db
    .select()
    .from(of)
    .where(
      and(
        eq(of.appId, found.app.id),
        eq(of.visibility, 'VISIBLE'),
        eq(of.allowedGroupsOverride, true),
        permissionsFoundBy(principal, found, settingsView(found.app, found.settings)),
      ),
    )
    .orderBy(asc(of.id))
    .limit(MAX_LOOKED_AT)
  for (const row of rows)
    if ((await closedBy(db, found, row, principal.userId)) === null) return null
  return whole
}

async function told(
  db: Db,
  { permissions }: Principal,
  { adminUserIds, adminGroupIds }: { adminUserIds: string[]; adminGroupIds: string[] },
  ids: string[],
): Promise<Closed> {
  const named = async (wanted: readonly string[]) =>
    wanted.length === 0
      ? []
      : await db
          .select({ name: groups.name })
          .from(groups)
          .where(inArray(groups.id, [...wanted]))
          .orderBy(asc(groups.name))
          .limit(MAX_NAMED)
  const mayRead = permissions.has('groups.read')
  const people =
    adminUserIds.length === 0
      ? []
      : await db
          .select({ given: users.givenName, family: users.familyName, email: users.email })
          .from(users)
          .where(
            and(
              inArray(users.id, adminUserIds),
              notInArray(users.status, ['SUSPENDED', 'INACTIVE']),
            ),
          )
          .orderBy(asc(users.email))
          .limit(MAX_NAMED)
  const teams = mayRead ? await named(adminGroupIds) : []
  return {
    groups: mayRead ? (await named(ids)).map(({ name }) => name) : [],
    admins: [
      ...people.map(({ given, family, email }) => `${given} ${family}`.trim() || email),
      ...teams.map(({ name }) => name),
    ],
  }
}
