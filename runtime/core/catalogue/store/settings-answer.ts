/** Wire form of an app's settings: complete, or reduced to what requesters need. */
import { and, eq } from 'drizzle-orm'
import type { SettingsView } from '../../../contract/models/app-store.ts'
import { NO_PEOPLE } from '../../../contract/models/approval.ts'
import type { Db } from '../../../database/database.ts'
import { requestablePermissions } from '../../../database/schema/app_store.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { PERMISSION_PLACES, permissionView } from './permission-view.ts'
import { type ReferencePlace, redactReferences, toObjects } from './references.ts'
import { DEFAULT_PERMISSION, SETTINGS_PLACES, settingsView } from './settings-view.ts'
import { permissionsFoundBy, type VisibleApp } from './visibility.ts'

/**
 * Places of references in the response. They exceed those in the input, as the default permission is returned
 * in full.
 */
const ANSWER_PLACES: readonly ReferencePlace[] = [
  ...SETTINGS_PLACES,
  ...PERMISSION_PLACES.map((place) => ({
    ...place,
    path: [...DEFAULT_PERMISSION.path, ...place.path],
  })),
]

/** Converts settings to their wire form. */
export async function settingsAnswer(db: Db, principal: Principal, found: VisibleApp) {
  const view = settingsView(found.app, found.settings)
  const shown = found.whole ? view : forRequesters(view)
  const document = {
    ...shown,
    request_flow: {
      ...shown.request_flow,
      response_describes_entire_approval_workflow: found.whole,
    },
    provisioning: {
      ...shown.provisioning,
      default_permission: await defaultPermission(db, principal, found, view),
    },
  }
  const told = redactReferences(found, document, SETTINGS_PLACES)
  const [answered] = await toObjects(db, principal, [told], ANSWER_PLACES)
  return { ...answered, in_app_store: view.in_app_store }
}

async function defaultPermission(
  db: Db,
  principal: Principal,
  found: VisibleApp,
  view: SettingsView,
) {
  const { default_permission: id } = view.provisioning
  if (id === null) return null
  const { app, whole } = found
  const [row] = await db
    .select()
    .from(requestablePermissions)
    .where(
      and(
        eq(requestablePermissions.id, id),
        eq(requestablePermissions.appId, app.id),
        permissionsFoundBy(principal, found, view),
      ),
    )
  if (!row) return null
  const permission = permissionView(row, app, view, { inherited: true, whole })
  return redactReferences(found, permission, PERMISSION_PLACES)
}

/** Removes approvers, admins, allowed groups and fulfilment from settings. */
const forRequesters = (view: SettingsView) => ({
  ...view,
  request_flow: {
    ...view.request_flow,
    allowed_groups: null,
    approvers: NO_PEOPLE,
    approvers_stage_2: NO_PEOPLE,
    admins: NO_PEOPLE,
    request_validation_inline_webhook: null,
  },
  provisioning: {
    ...view.provisioning,
    custom_provisioning_instructions: null,
    provisioning_webhook: null,
    access_removal_inline_webhook: null,
  },
})
