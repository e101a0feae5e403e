/** Names of apps and permissions. */
import { and, eq, inArray } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { requestablePermissions } from '../../database/schema/app_store.ts'
import { apps } from '../../database/schema/apps.ts'
import { isId } from './by-id.ts'

/**
 * Reads the names of apps and permissions of a domain, and the app of each permission, by id. An empty list
 * of ids makes no query.
 */
export async function thingLabels(
  db: Db,
  domainId: string,
  named: { apps: readonly string[]; permissions: readonly string[] },
) {
  const appIds = [...new Set(named.apps)].filter(isId)
  const permissionIds = [...new Set(named.permissions)].filter(isId)
  const appRows =
    appIds.length === 0
      ? []
      : await db
          .select({ id: apps.id, label: apps.name })
          .from(apps)
          .where(and(inArray(apps.id, appIds), eq(apps.domainId, domainId)))
  const { id, label, appId } = requestablePermissions
  const permissionRows =
    permissionIds.length === 0
      ? []
      : await db
          .select({ id, label, appId })
          .from(requestablePermissions)
          .where(and(inArray(id, permissionIds), eq(requestablePermissions.domainId, domainId)))
  return {
    apps: new Map(appRows.map((row) => [row.id, row.label])),
    permissions: new Map(permissionRows.map((row) => [row.id, row.label])),
    owners: new Map(permissionRows.map((row) => [row.id, row.appId])),
  }
}
