/**
 * Who finds what in the app store. A requester finds an app that is in the store when its discoverability
 * lets him (core-interface.md section 1.17); its admins and those with appstore.read read it whole.
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
import { groupArrayOf, reach, reachesNone } from '../../kernel/identity/app-reach.ts'
import type { Principal } from '../../kernel/identity/principal.ts'

/** Whether an app's allowed groups cover the caller; none are everybody. */
const covered = ({ userId }: Principal): SQL =>
  sql`(${appStoreSettings.allowedGroupIds} is null or ${appStoreSettings.allowedGroupIds} && ${groupArrayOf(userId)})`

/** A condition on `app_store_settings`: the caller finds the app as a requester. */
export const foundBy = (principal: Principal): SQL =>
  sql`(${appStoreSettings.inAppStore} and (${appStoreSettings.discoverability} = 'FULL'
    or (${appStoreSettings.discoverability} = 'LIMITED' and ${covered(principal)})))`

/** Whether the caller reads an app whole, as a value: a condition on `apps`. */
const readsWhole = (principal: Principal): SQL =>
  reachesNone(principal, 'appstore.read')
    ? sql`false`
    : (reach(principal, 'appstore.read') ?? sql`true`)

/** A condition on `requestable_permissions` beside `app_store_settings`: what `permissionsFoundBy` says of requesters. */
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
  /** Whether the caller reads everything of it, or what requesters need. */
  whole: boolean
  /** Whether the allowed groups of the app cover the caller. */
  covered: boolean
}

/** Those of some apps that the caller finds in the store, or reads whole wherever they are, by their ids. */
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

/** One of them. @throws CoreError not_found */
export async function findFound(db: Db, principal: Principal, appId: string): Promise<VisibleApp> {
  const [found] = (await findAllFound(db, principal, [appId])).values()
  if (!found) throw notFound('App')
  return found
}

/** Those of some apps that the caller finds in the store, by their ids. */
export async function findAllInStore(
  db: Db,
  principal: Principal,
  appIds: readonly string[],
): Promise<ReadonlyMap<string, VisibleApp>> {
  const found = [...(await findAllFound(db, principal, appIds))]
  return new Map(found.filter(([, { settings }]) => settings?.inAppStore))
}

/**
 * An app that the caller finds in the store.
 *
 * @throws CoreError not_found also for an app that is not in the store.
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

export const notInStore = () => notFound('App in the app store')

/**
 * A condition on `requestable_permissions` of a found app: undefined where the caller reads all of them. A
 * requester finds those that are visible, in an app that shows its permissions, whose allowed groups (the
 * app's, unless they have their own) cover him.
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
