/** Current app, permission and settings of a request, and its fulfilment. */

import { and, eq, inArray, isNotNull, sql } from 'drizzle-orm'
import { type Db, one } from '../../database/database.ts'
import { prepared } from '../../database/prepared.ts'
import {
  appStoreSettings,
  type PermissionRow,
  requestablePermissions,
} from '../../database/schema/app_store.ts'
import { type AppRow, apps } from '../../database/schema/apps.ts'
import { groups, type users } from '../../database/schema/people.ts'
import type { EntitlementRef, RequestRow } from '../../database/schema/requests.ts'
import { appsOf } from '../catalogue/apps/apps.ts'
import { type RequestConfig, requestConfig } from './config.ts'
import type { FulfilmentRoute } from './machine/events.ts'

type UserStatus = (typeof users.$inferSelect)['status']

/** Returns the current app, permission and settings of a request, and the status of its target user. */
export async function subjectOf(tx: Db, request: RequestRow) {
  const { app, settings, targetStatus } = one(
    await appAndSettings(tx, { id: request.appId, userId: request.targetUserId }),
  )
  const [permission = null] =
    request.permissionId === null
      ? []
      : await tx
          .select()
          .from(requestablePermissions)
          .where(eq(requestablePermissions.id, request.permissionId))
  return { app, permission, config: requestConfig(app, settings, permission), targetStatus }
}

const appAndSettings = prepared('app and settings of access request', (db) =>
  db
    .select({
      app: apps,
      settings: appStoreSettings,
      // Status of the target user; null if no user is named.
      targetStatus: sql<UserStatus | null>`(select u.status from users u where u.id = ${sql.placeholder('userId')})`,
    })
    .from(apps)
    .leftJoin(appStoreSettings, eq(appStoreSettings.appId, apps.id))
    .where(eq(apps.id, sql.placeholder('id'))),
)

/** Returns the current settings of an app, or of the permission in its store for one of its entitlements. */
export async function storeSettingsOf(tx: Db, app: AppRow, entitlement: EntitlementRef | null) {
  const { settings } = one(await appAndSettings(tx, { id: app.id, userId: null }))
  const permission = entitlement === null ? null : await permissionOf(tx, app, entitlement)
  return { permission, config: requestConfig(app, settings, permission) }
}

async function permissionOf(
  tx: Db,
  { id }: AppRow,
  { entitlementType, resourceId, entitlementId }: EntitlementRef,
): Promise<PermissionRow | null> {
  const of = requestablePermissions
  const digest = sql`md5(${entitlementType}::text || chr(1) || ${resourceId}::text || chr(1) || ${entitlementId}::text)`
  const [row] = await tx
    .select()
    .from(of)
    .where(
      and(
        eq(of.appId, id),
        isNotNull(of.entitlementId),
        sql`md5(${of.entitlementType} || chr(1) || ${of.resourceId} || chr(1) || ${of.entitlementId}) = ${digest}`,
        eq(of.entitlementId, entitlementId),
      ),
    )
    .limit(1)
  return row ?? null
}

/** Returns the current route of a request, and the app's instructions for manual grants. */
export async function fulfilmentOf(
  tx: Db,
  request: RequestRow,
): Promise<{
  facts: { route: FulfilmentRoute; instructions: string | null }
  targetStatus: UserStatus | null
}> {
  const { targetStatus, ...subject } = await subjectOf(tx, request)
  const facts = { route: await routeOf(tx, subject), instructions: subject.config.instructions }
  return { facts, targetStatus }
}

type Subject = { app: AppRow; permission: PermissionRow | null; config: RequestConfig }

/** Returns how a request would be fulfilled: by a webhook, through the connector, or by hand. */
const routeOf = async (tx: Db, subject: Subject): Promise<FulfilmentRoute> =>
  one(await routesOf(tx, [subject]))

/** Like `routeOf` for several subjects, in their order. */
export async function routesOf(tx: Db, subjects: readonly Subject[]): Promise<FulfilmentRoute[]> {
  const groupIds = subjects.flatMap(({ config }) => config.provisioningGroup ?? [])
  const ofGroups = await permissionsOfGroups(tx, groupIds)
  const standing = subjects.map(({ permission, config: { provisioningGroup: id } }) =>
    id === null ? permission : (ofGroups.get(id) ?? null),
  )
  const known = new Map(subjects.map(({ app }) => [app.id, app]))
  const others = standing.flatMap((one) => (one && !known.has(one.appId) ? [one.appId] : []))
  const rows = others.length === 0 ? [] : await appsOf(tx, others)
  for (const row of rows) known.set(row.id, row)
  return subjects.map((subject, at) => {
    const standsFor = standing[at] ?? null
    return routeThrough(subject, standsFor, known.get(standsFor?.appId ?? subject.app.id))
  })
}

/**
 * Returns the route of a subject.
 *
 * @param standsFor permission that is granted in its place
 * @param carrier app of that permission
 */
function routeThrough(
  { app, permission, config: { provisioningWebhook, provisioningGroup } }: Subject,
  standsFor: PermissionRow | null,
  carrier: AppRow | undefined,
): FulfilmentRoute {
  const manual: FulfilmentRoute = { fulfilment: 'manual', entitlement: null, carriedAppId: app.id }
  if (provisioningWebhook !== null) return { ...manual, fulfilment: 'webhook' }
  if (!carrier?.connectorId) return manual
  if (permission === null && provisioningGroup === null)
    return { ...manual, fulfilment: 'connector' }
  const entitlement = standsFor && entitlementOf(standsFor)
  if (entitlement === null) return manual
  return { fulfilment: 'connector', entitlement, carriedAppId: carrier.id }
}

const entitlementOf = (permission: PermissionRow): EntitlementRef | null => {
  const { entitlementType, entitlementId, resourceType, resourceId } = permission
  if (entitlementType === null || entitlementId === null) return null
  return {
    entitlementType,
    entitlementId,
    resourceType: resourceType ?? '',
    resourceId: resourceId ?? '',
  }
}

/** Returns the permissions that syncs found for groups, by group id; null if two permissions have its id. */
async function permissionsOfGroups(
  tx: Db,
  groupIds: readonly string[],
): Promise<ReadonlyMap<string, PermissionRow | null>> {
  if (groupIds.length === 0) return new Map()
  const rows = await tx
    .select({ id: groups.id, permission: requestablePermissions })
    .from(groups)
    .innerJoin(
      requestablePermissions,
      and(
        eq(requestablePermissions.appId, groups.appId),
        eq(requestablePermissions.entitlementId, groups.integrationSpecificId),
      ),
    )
    .where(inArray(groups.id, [...new Set(groupIds)]))
  const found = new Map<string, PermissionRow | null>()
  // A role may have the id of a group. People have to find out which one is meant.
  for (const { id, permission } of rows) found.set(id, found.has(id) ? null : permission)
  return found
}
