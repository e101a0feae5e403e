/** Apps and permissions that policies currently grant. */

import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import {
  appStoreSettings,
  type PermissionRow,
  requestablePermissions,
  type SettingsRow,
} from '../../database/schema/app_store.ts'
import { type AppRow, apps } from '../../database/schema/apps.ts'
import type { PolicyRow } from '../../database/schema/policies.ts'
import { isId } from '../kernel/by-id.ts'

/** One item that a policy grants. Its key is the id of the permission, else of the app. */
export type PolicyEntitlement = {
  key: string
  app: AppRow
  settings: SettingsRow | null
  permission: PermissionRow | null
  preapproved: boolean
}

/** Reports whether a policy is in force. Others grant nothing. */
export const isInForce = ({ status, isEnabled, deletedAt }: PolicyRow): boolean =>
  status === 'PUBLISHED' && isEnabled && deletedAt === null

/** Returns the items that a policy grants, by their keys. Items that no longer exist are left out. */
export async function entitlementsOf(
  db: Db,
  policy: PolicyRow,
): Promise<Map<string, PolicyEntitlement>> {
  if (!isInForce(policy)) return new Map()
  const appIds = policy.apps.map(({ id }) => id).filter(isId)
  const permissionIds = policy.apps.flatMap(({ permissions }) => permissions).filter(isId)
  const { domainId } = policy
  const appRows = await db
    .select({ app: apps, settings: appStoreSettings })
    .from(apps)
    .leftJoin(appStoreSettings, eq(appStoreSettings.appId, apps.id))
    .where(and(eq(apps.domainId, domainId), sql`${apps.id} = any(${sql.param(appIds)}::uuid[])`))
  const permissionRows = await db
    .select()
    .from(requestablePermissions)
    .where(
      and(
        eq(requestablePermissions.domainId, domainId),
        sql`${requestablePermissions.id} = any(${sql.param(permissionIds)}::uuid[])`,
        isNull(requestablePermissions.goneAt),
      ),
    )
  const things = policy.apps.flatMap<PolicyEntitlement>(
    ({ id, is_preapproved: preapproved, permissions }) => {
      const row = appRows.find(({ app }) => app.id === id)
      if (!row) return []
      if (permissions.length === 0) return [{ ...row, key: id, permission: null, preapproved }]
      return permissions.flatMap((key) => {
        const permission = permissionRows.find((one) => one.id === key && one.appId === id)
        return permission ? [{ ...row, key, permission, preapproved }] : []
      })
    },
  )
  return new Map(things.map((thing) => [thing.key, thing]))
}
