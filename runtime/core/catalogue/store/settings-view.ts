/** Effective settings of an app: the stored values, with defaults for the rest. References are ids. */

import { type SettingsView, STORE_DEFAULTS } from '../../../contract/models/app-store.ts'
import { membersOf } from '../../../contract/schema/record.ts'
import type { SettingsRow } from '../../../database/schema/app_store.ts'
import type { AppRow } from '../../../database/schema/apps.ts'
import { peoplePlaces, secondStageOf } from './approver-settings.ts'
import { withDefaults } from './merge.ts'
import type { ReferencePlace } from './references.ts'

/**
 * Places of references in settings, except `default_permission`, which is returned in full but written as a
 * reference.
 */
export const SETTINGS_PLACES: readonly ReferencePlace[] = [
  { path: ['request_flow', 'allowed_groups', 'groups', '*'], kind: 'group' },
  ...peoplePlaces('request_flow', 'approvers'),
  ...peoplePlaces('request_flow', 'approvers_stage_2'),
  ...peoplePlaces('request_flow', 'admins'),
  {
    path: ['request_flow', 'request_validation_inline_webhook'],
    kind: 'webhook',
    hookType: 'REQUEST_VALIDATION',
  },
  { path: ['provisioning', 'provisioning_webhook'], kind: 'webhook', hookType: 'PROVISION' },
  {
    path: ['provisioning', 'access_removal_inline_webhook'],
    kind: 'webhook',
    hookType: 'DEPROVISION',
  },
]

/** Place of the reference to the default permission. */
export const DEFAULT_PERMISSION: ReferencePlace = {
  path: ['provisioning', 'default_permission'],
  kind: 'permission',
}

/** Returns the effective settings of an app. `row` is null if none are stored. */
export function settingsView(
  app: AppRow,
  row: Pick<SettingsRow, 'document' | 'inAppStore'> | null,
): SettingsView {
  const view = withDefaults(STORE_DEFAULTS, row?.document ?? {})
  const written = membersOf(row?.document['request_flow'])
  return {
    ...view,
    request_flow: {
      ...view.request_flow,
      require_additional_approval: secondStageOf(written),
      admins: { groups: app.adminGroupIds, users: app.adminUserIds },
    },
    provisioning: {
      ...view.provisioning,
      allow_multiple_permission_selection: app.allowMultiplePermissionSelection,
    },
    in_app_store: row?.inAppStore ?? false,
  }
}
