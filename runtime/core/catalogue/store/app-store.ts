/** Apps in the app store: listing, adding and removing. */
import { and, asc, eq, inArray, or, type SQL, sql } from 'drizzle-orm'
import type { QueryOf } from '../../../contract/endpoints/table.ts'
import { conflict } from '../../../contract/errors/problem.ts'
import type { AddAppToAppStoreInput } from '../../../contract/models/app-store.ts'
import { categoryOf } from '../../../contract/models/categories.ts'
import type { Db } from '../../../database/database.ts'
import { appStoreSettings, requestablePermissions } from '../../../database/schema/app_store.ts'
import { apps } from '../../../database/schema/apps.ts'
import { recordActivity } from '../../kernel/audit/activity.ts'
import { idEquals } from '../../kernel/by-id.ts'
import { reach } from '../../kernel/identity/app-reach.ts'
import { type Principal, requirePermission } from '../../kernel/identity/principal.ts'
import { selectPage } from '../../kernel/list/page.ts'
import { hasPart, hasText } from '../../kernel/list/search.ts'
import { appTarget, lockApp, withAttributes } from '../apps/apps.ts'
import { settingsOf, writeSettings } from './settings.ts'
import { findInStore, foundBy, notInStore, shownIn } from './visibility.ts'

type StoreQuery = QueryOf<'list_appstore_apps'>

/**
 * Lists the store as the caller sees it: as a requester, and for an App Admin also with their own apps. With
 * `all_visibilities`, apps hidden from the caller are included; this requires appstore.read.
 */
export async function listStoreApps(db: Db, principal: Principal, query: StoreQuery) {
  const { app_id: appId, name_search: name, exact_match: exact, category } = query
  if (query.all_visibilities) requirePermission(principal, 'appstore.read')
  const where = and(
    eq(apps.domainId, principal.domainId),
    listed(db, principal, query.all_visibilities),
    idEquals(apps.id, appId),
    category === null ? undefined : sql`${CATEGORY} = ${categoryOf(category) ?? category}`,
    hasText(apps.name, name, exact),
    query.search_term ? namedOrHolding(principal, query.search_term) : undefined,
  )
  const order = [asc(apps.name), asc(apps.id)]
  return selectPage(db, apps, { where, order }, query, (rows) =>
    rows.map((row) => withAttributes(row, query.expand)),
  )
}

/**
 * Returns the condition that the app, or one of its permissions that requesters see, has a name with the
 * text.
 */
const namedOrHolding = (principal: Principal, text: string): SQL => {
  const { appId, domainId, label, goneAt } = requestablePermissions
  return sql`(${hasPart(apps.name, text)} or ${apps.id} = any(array(
    select ${appId} from ${requestablePermissions}
    join ${appStoreSettings} on ${appStoreSettings.appId} = ${appId}
    where ${domainId} = ${principal.domainId} and ${hasPart(label, text)} and ${goneAt} is null
      and ${shownIn(principal)})))`
}

const CATEGORY = sql<
  string | null
>`coalesce(${apps.overrides} ->> 'category', ${apps.defaults} ->> 'category')`

/** Maximum number of categories returned. There are fewer, except for custom texts of connectors. */
const MAX_CATEGORIES = 50

/** Returns the categories of the apps that the caller sees in the store, by name. */
export async function storeCategories(db: Db, principal: Principal): Promise<string[]> {
  const rows = await db
    .selectDistinct({ category: CATEGORY })
    .from(apps)
    .where(and(eq(apps.domainId, principal.domainId), listed(db, principal, false)))
    .orderBy(CATEGORY)
    .limit(MAX_CATEGORIES)
  return rows.flatMap(({ category }) => (category === null ? [] : [category]))
}

function listed(db: Db, principal: Principal, everything: boolean): SQL | undefined {
  const those = (condition: SQL) =>
    inArray(
      apps.id,
      db
        .select({ id: appStoreSettings.appId })
        .from(appStoreSettings)
        .where(and(eq(appStoreSettings.domainId, principal.domainId), condition)),
    )
  const inStore = sql`${appStoreSettings.inAppStore}`
  if (everything) return those(inStore)
  const found = those(foundBy(principal))
  if (!principal.roles.includes('App Admin') || principal.permissions.has('appstore.read'))
    return found
  return or(found, and(reach(principal, 'appstore.read'), those(inStore)))
}

export async function getStoreApp(db: Db, principal: Principal, appId: string, expand: string[]) {
  return withAttributes((await findInStore(db, principal, appId)).app, expand)
}

/**
 * Adds an app to the store.
 *
 * @throws CoreError `not_found`, `conflict` if it is already there, `invalid` for references to missing
 * objects
 */
export async function addStoreApp(db: Db, principal: Principal, body: AddAppToAppStoreInput) {
  const { app_id: appId, ...settings } = body
  return db.transaction(async (tx) => {
    const app = await lockApp(tx, principal, appId, 'appstore.write')
    if ((await settingsOf(tx, app))?.inAppStore) {
      throw conflict(
        'The app is already in the app store; change it with PATCH /appstore/apps/{app_id}/settings',
      )
    }
    const change = { ...settings, in_app_store: true }
    const { in_app_store, ...answer } = await writeSettings(tx, principal, app, change)
    return answer
  })
}

/**
 * Removes an app from the store and deletes its store settings. Its admins belong to the app and stay.
 *
 * @throws CoreError `not_found`
 */
export async function removeStoreApp(db: Db, principal: Principal, appId: string) {
  return db.transaction(async (tx) => {
    const app = await lockApp(tx, principal, appId, 'appstore.write')
    const removed = await tx
      .delete(appStoreSettings)
      .where(and(eq(appStoreSettings.appId, app.id), appStoreSettings.inAppStore))
      .returning()
    if (removed.length === 0) throw notInStore()
    await recordActivity(tx, principal, 'ADMIN_REMOVED_APP_FROM_APP_STORE', [appTarget(app)], {})
    return { id: app.id, in_app_store: false }
  })
}
