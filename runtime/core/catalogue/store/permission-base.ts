/** Short form of a permission, used in references to it. */

import type { PermissionRow } from '../../../database/schema/app_store.ts'
import type { AppRow } from '../../../database/schema/apps.ts'

/** Converts a permission to RequestablePermissionBaseOutput of core-interface.md section 2.2. */
export const toPermissionBase = (
  row: PermissionRow,
  app: Pick<AppRow, 'id' | 'appClassId' | 'instanceId'>,
) => ({
  id: row.id,
  type: row.type,
  label: row.label,
  app_id: app.id,
  app_class_id: app.appClassId,
  app_instance_id: app.instanceId,
})
