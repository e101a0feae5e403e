/** Takes a deleted user out of the settings of the store that name people: admins of apps, and approvers. */
import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../database/database.ts'
import { appStoreSettings, requestablePermissions } from '../../../database/schema/app_store.ts'
import { apps } from '../../../database/schema/apps.ts'
import type { DeletedUser } from '../../kernel/context/listeners.ts'
import { appTarget } from '../apps/apps.ts'
import { changedMembers } from './merge.ts'
import { permissionTarget } from './permission-edits.ts'
import { CONFIG_PLACES } from './permission-view.ts'
import { withoutReference } from './references.ts'
import { SETTINGS_PLACES } from './settings-view.ts'

export async function leaveStore(tx: Db, deleted: DeletedUser): Promise<void> {
  await leaveAdmins(tx, deleted)
  await leaveSettings(tx, deleted)
  await leavePermissions(tx, deleted)
}

/** Documents that name them somewhere; which of their members do is looked at one by one. */
const names = (
  document: typeof appStoreSettings.document | typeof requestablePermissions.document,
  { userId }: DeletedUser,
): SQL => sql`${document}::text like ${`%"${userId}"%`}`

async function leaveAdmins(tx: Db, { domainId, userId, record }: DeletedUser): Promise<void> {
  const rows = await tx
    .select()
    .from(apps)
    .where(and(eq(apps.domainId, domainId), sql`${apps.adminUserIds} @> array[${userId}]::uuid[]`))
    .orderBy(apps.id)
    .for('no key update')
  for (const app of rows) {
    const users = app.adminUserIds.filter((id) => id !== userId)
    await tx.update(apps).set({ adminUserIds: users }).where(eq(apps.id, app.id))
    const admins = (ids: string[]) => ({ groups: app.adminGroupIds, users: ids })
    await record('ADMIN_UPDATED_APP_ADMINS', [appTarget(app)], {
      ...{ before: admins(app.adminUserIds), after: admins(users) },
    })
  }
}

async function leaveSettings(tx: Db, deleted: DeletedUser): Promise<void> {
  const rows = await tx
    .select({ app: apps, document: appStoreSettings.document })
    .from(appStoreSettings)
    .innerJoin(apps, eq(apps.id, appStoreSettings.appId))
    .where(
      and(
        eq(appStoreSettings.domainId, deleted.domainId),
        names(appStoreSettings.document, deleted),
      ),
    )
    .orderBy(apps.id)
    .for('no key update', { of: appStoreSettings })
  for (const { app, document } of rows) {
    const after = withoutReference(document, SETTINGS_PLACES, deleted.userId)
    if (after === null) continue
    await tx
      .update(appStoreSettings)
      .set({ document: after })
      .where(eq(appStoreSettings.appId, app.id))
    await deleted.record('ADMIN_UPDATED_APP_STORE_SETTINGS', [appTarget(app)], {
      changed: changedMembers(document, after),
    })
  }
}

async function leavePermissions(tx: Db, deleted: DeletedUser): Promise<void> {
  const rows = await tx
    .select({ permission: requestablePermissions, app: apps })
    .from(requestablePermissions)
    .innerJoin(apps, eq(apps.id, requestablePermissions.appId))
    .where(
      and(
        eq(requestablePermissions.domainId, deleted.domainId),
        names(requestablePermissions.document, deleted),
      ),
    )
    .orderBy(requestablePermissions.id)
    .for('no key update', { of: requestablePermissions })
  for (const { permission, app } of rows) {
    const document = withoutReference(permission.document, CONFIG_PLACES, deleted.userId)
    if (document === null) continue
    await tx
      .update(requestablePermissions)
      .set({ document })
      .where(eq(requestablePermissions.id, permission.id))
    await deleted.record(
      'APP_STORE_PERMISSION_UPDATED',
      [permissionTarget(permission), appTarget(app)],
      {
        changed: changedMembers(permission.document, document),
      },
    )
  }
}
