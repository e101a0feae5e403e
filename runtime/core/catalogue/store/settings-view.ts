/** An app's settings as they stand: what was written, with the defaults of the rest. References are ids. */

import { type SettingsView, STORE_DEFAULTS } from '../../../contract/models/app-store.ts'
import { membersOf } from '../../../contract/schema/record.ts'
import type { SettingsRow } from '../../../database/schema/app_store.ts'
import type { AppRow } from '../../../database/schema/apps.ts'
import { peoplePlaces, secondStageOf } from './approvers.ts'
import { withDefaults } from './merge.ts'
import type { ReferencePlace } from './references.ts'

/** Where settings refer to something, but for `default_permission`, which reads as more than it is written. */
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

export const DEFAULT_PERMISSION: ReferencePlace = {
  path: ['provisioning', 'default_permission'],
  kind: 'permission',
}

/** The settings of an app; null is an app that nobody wrote settings for. */
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
