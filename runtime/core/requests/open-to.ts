/** Who may receive access: the allowed groups of an app, or a permission's own. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { allowedIds } from '../catalogue/store/approvers.ts'
import type { PermissionRow } from '../catalogue/store/permission-base.ts'
import { configView } from '../catalogue/store/permission-view.ts'
import { settingsView } from '../catalogue/store/settings-view.ts'
import type { VisibleApp } from '../catalogue/store/visibility.ts'
import { groupsOf } from '../kernel/identity/app-reach.ts'

/** The ids of the groups that it is for, where the target is in none of them; null where it is open to them. */
export async function closedBy(
  db: Db,
  { app, settings }: Pick<VisibleApp, 'app' | 'settings'>,
  permission: PermissionRow | null,
  targetId: string,
): Promise<string[] | null> {
  const own = permission && configView(permission.document)
  const allowed =
    own?.allowed_groups_override && own.allowed_groups
      ? own.allowed_groups
      : settingsView(app, settings).request_flow.allowed_groups
  const ids = allowedIds(allowed)
  if (ids === null) return null
  const { rows } = await db.execute<{ fits: boolean }>(
    sql`select ${sql.param(ids)}::uuid[] && ${groupsOf(targetId)} as fits`,
  )
  return rows[0]?.fits ? null : ids
}
