/** Who may receive access: the allowed groups of an app, or a permission's own. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import type { PermissionRow } from '../../database/schema/app_store.ts'
import { allowedIds } from '../catalogue/store/approvers.ts'
import { configView } from '../catalogue/store/permission-view.ts'
import { settingsView } from '../catalogue/store/settings-view.ts'
import type { VisibleApp } from '../catalogue/store/visibility.ts'
import { groupArrayOf } from '../kernel/identity/app-reach.ts'

/** The ids of the groups that it is for; null where it is open to everybody. */
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

/** Whether the target is in none of the groups that it is for. */
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
