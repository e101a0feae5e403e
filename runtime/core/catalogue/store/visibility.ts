/**
 * Visibility in the app store. A requester sees an app in the store if its discoverability permits it
 * (core-interface.md section 1.17). The app's admins and callers with appstore.read see all of it.
 */
import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { notFound } from '../../../contract/errors/problem.ts'
import type { SettingsView } from '../../../contract/models/app-store.ts'
import type { Db } from '../../../database/database.ts'
import {
  appStoreSettings,
  requestablePermissions,
  type SettingsRow,
} from '../../../database/schema/app_store.ts'
import { type AppRow, apps } from '../../../database/schema/apps.ts'
import { isId } from '../../kernel/by-id.ts'
import { groupArrayOf, isReachRefused, reach } from '../../kernel/identity/app-reach.ts'
import type { Principal } from '../../kernel/identity/principal.ts'

/**
 * Returns the condition that an app's allowed groups include the caller. If none are set, everybody is
 * allowed.
 */
const covered = ({ userId }: Principal): SQL =>
  sql`(${appStoreSettings.allowedGroupIds} is null or ${appStoreSettings.allowedGroupIds} && ${groupArrayOf(userId)})`

/** Returns the condition on `app_store_settings` that the caller sees the app as a requester. */
export const foundBy = (principal: Principal): SQL =>
  sql`(${appStoreSettings.inAppStore} and (${appStoreSettings.discoverability} = 'FULL'
    or (${appStoreSettings.discoverability} = 'LIMITED' and ${covered(principal)})))`

/**
 * Returns the condition on `apps` that the caller sees all of an app. It is always defined, so that it can be
 * selected.
 */
const readsWhole = (principal: Principal): SQL =>
  isReachRefused(principal, 'appstore.read')
    ? sql`false`
    : (reach(principal, 'appstore.read') ?? sql`true`)

/**
 * Returns the condition of `permissionsFoundBy` for requesters, on `requestable_permissions` joined with
 * `app_store_settings`.
 */
export const shownIn = (principal: Principal): SQL => {
  const { visibility, allowedGroupsOverride, allowedGroupIds } = requestablePermissions
  return sql`(${visibility} = 'VISIBLE'
    and coalesce(${appStoreSettings.document} #>> '{provisioning,groups_provisioning}', 'GROUPS_AND_VISIBLE') = 'GROUPS_AND_VISIBLE'
    and case when ${allowedGroupsOverride}
      then ${allowedGroupIds} is null or ${allowedGroupIds} && ${groupArrayOf(principal.userId)}
      else ${covered(principal)} end)`
}

export type VisibleApp = {
  app: AppRow
  settings: SettingsRow | null
  /** True if the caller sees everything, false if only what requesters need. */
  whole: boolean
  /** True if the allowed groups of the app include the caller. */
  covered: boolean
}

/** Reads those of the given apps that the caller sees in the store, or sees all of anywhere, by id. */
export async function findAllFound(
  db: Db,
  principal: Principal,
  appIds: readonly string[],
): Promise<ReadonlyMap<string, VisibleApp>> {
  const ids = appIds.filter(isId)
  const rows =
    ids.length === 0
      ? []
      : await db
          .select({
            app: apps,
            settings: appStoreSettings,
            whole: sql<boolean>`${readsWhole(principal)}`,
            found: sql<boolean>`coalesce(${foundBy(principal)}, false)`,
            covered: sql<boolean>`${covered(principal)}`,
          })
          .from(apps)
          .leftJoin(appStoreSettings, eq(appStoreSettings.appId, apps.id))
          .where(and(inArray(apps.id, ids), eq(apps.domainId, principal.domainId)))
  const found = rows.filter((row) => row.whole || row.found)
  return new Map(found.map((row) => [row.app.id, row]))
}

/** Reads one such app. @throws CoreError `not_found` */
export async function findFound(db: Db, principal: Principal, appId: string): Promise<VisibleApp> {
  const [found] = (await findAllFound(db, principal, [appId])).values()
  if (!found) throw notFound('App')
  return found
}

/** Reads those of the given apps that the caller sees in the store, by id. */
export async function findAllInStore(
  db: Db,
  principal: Principal,
  appIds: readonly string[],
): Promise<ReadonlyMap<string, VisibleApp>> {
  const found = [...(await findAllFound(db, principal, appIds))]
  return new Map(found.filter(([, { settings }]) => settings?.inAppStore))
}

/**
 * Reads an app that the caller sees in the store.
 *
 * @throws CoreError `not_found` also for an app that is not in the store
 */
export async function findInStore(
  db: Db,
  principal: Principal,
  appId: string,
): Promise<VisibleApp> {
  const found = await findFound(db, principal, appId)
  if (!found.settings?.inAppStore) throw notInStore()
  return found
}

/** Returns the error for an app that is not in the store. */
export const notInStore = () => notFound('App in the app store')

/**
 * Returns the condition on `requestable_permissions` of an app for those that the caller sees, or undefined
 * if the caller sees all of them. A requester sees visible permissions, in an app that shows its permissions,
 * if the allowed groups include the requester: the permission's own, or else the app's.
 */
export function permissionsFoundBy(
  principal: Principal,
  { whole, covered: byApp }: VisibleApp,
  { provisioning }: SettingsView,
): SQL | undefined {
  if (whole) return undefined
  if (provisioning.groups_provisioning !== 'GROUPS_AND_VISIBLE') return sql`false`
  const { visibility, allowedGroupsOverride, allowedGroupIds } = requestablePermissions
  return sql`(${visibility} = 'VISIBLE' and case when ${allowedGroupsOverride}
    then ${allowedGroupIds} is null or ${allowedGroupIds} && ${groupArrayOf(principal.userId)}
    else ${byApp}::boolean end)`
}
