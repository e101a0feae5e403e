/** An app's settings as they stand: what was written, with the defaults of the rest. References are ids. */

import type { AccessLength } from '../../../contract/models/access-length.ts'
import type { DISCOVERABILITIES, GROUP_PROVISIONINGS } from '../../../contract/models/app-store.ts'
import { membersOf } from '../../../contract/schema/record.ts'
import type { SettingsRow } from '../../../database/schema/app_store.ts'
import type { AppRow } from '../../../database/schema/apps.ts'
import {
  ALL_GROUPS,
  type AllowedGroups,
  NO_PEOPLE,
  type People,
  peoplePlaces,
  secondStageOf,
} from './approvers.ts'
import { withDefaults } from './merge.ts'
import type { ReferencePlace } from './references.ts'

export type SettingsView = {
  custom_request_instructions: string
  redirect_url: string | null
  request_flow: {
    discoverability: (typeof DISCOVERABILITIES)[number]
    custom_approval_message: string
    require_manager_approval: boolean
    require_additional_approval: boolean
    allowed_groups: AllowedGroups
    approvers: People
    approvers_stage_2: People
    admins: People
    request_validation_inline_webhook: string | null
  }
  provisioning: {
    groups_provisioning: (typeof GROUP_PROVISIONINGS)[number]
    time_based_access: AccessLength[]
    allow_multiple_permission_selection: boolean
    manual_steps_needed: boolean
    custom_provisioning_instructions: string | null
    default_time_based_access_option: AccessLength | null
    default_permission: string | null
    provisioning_webhook: string | null
    access_removal_inline_webhook: string | null
  }
  in_app_store: boolean
}

/**
 * What holds where nothing was written. An app that is put into the store is there to be found; its
 * permissions are hidden one by one, so none shows unasked.
 */
const DEFAULTS: SettingsView = {
  custom_request_instructions: '',
  redirect_url: null,
  request_flow: {
    discoverability: 'FULL',
    custom_approval_message: '',
    require_manager_approval: false,
    require_additional_approval: false,
    allowed_groups: ALL_GROUPS,
    approvers: NO_PEOPLE,
    approvers_stage_2: NO_PEOPLE,
    admins: NO_PEOPLE,
    request_validation_inline_webhook: null,
  },
  provisioning: {
    groups_provisioning: 'GROUPS_AND_VISIBLE',
    time_based_access: [],
    allow_multiple_permission_selection: false,
    manual_steps_needed: false,
    custom_provisioning_instructions: null,
    default_time_based_access_option: null,
    default_permission: null,
    provisioning_webhook: null,
    access_removal_inline_webhook: null,
  },
  in_app_store: false,
}

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
  const view = withDefaults(DEFAULTS, row?.document ?? {})
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
