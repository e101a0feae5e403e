/** People who may receive access: members of the allowed groups of an app, or of a permission's own. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import type { PermissionRow } from '../../database/schema/app_store.ts'
import { allowedIds } from '../catalogue/store/approver-settings.ts'
import { configView } from '../catalogue/store/permission-view.ts'
import { settingsView } from '../catalogue/store/settings-view.ts'
import type { VisibleApp } from '../catalogue/store/visibility.ts'
import { groupArrayOf } from '../kernel/identity/app-reach.ts'

/** Returns the ids of the allowed groups, or null if everyone is allowed. */
export function allowedFor(
  { app, settings }: Pick<VisibleApp, 'app' | 'settings'>,
  permission: PermissionRow | null,
): string[] | null {
  const own = permission && configView(permission.document)
  return allowedIds(
    own?.allowed_groups_override && own.allowed_groups
      ? own.allowed_groups
      : settingsView(app, settings).request_flow.allowed_groups,
  )
}

/** Reports whether the target is in none of the allowed groups. */
export async function isClosedTo(
  db: Db,
  found: Pick<VisibleApp, 'app' | 'settings'>,
  permission: PermissionRow | null,
  targetId: string,
): Promise<boolean> {
  const ids = allowedFor(found, permission)
  if (ids === null) return false
  const { rows } = await db.execute<{ fits: boolean }>(
    sql`select ${sql.param(ids)}::uuid[] && ${groupArrayOf(targetId)} as fits`,
  )
  return !rows[0]?.fits
}
