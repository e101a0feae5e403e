/**
 * Effective `request_config` of a permission: its own values, then the app's, then the defaults. References
 * are ids.
 */
import type { SettingsView } from '../../../contract/models/app-store.ts'
import { ALL_GROUPS, NO_PEOPLE } from '../../../contract/models/approval.ts'
import type { RequestConfigView } from '../../../contract/models/requestable-permission.ts'
import { membersOf } from '../../../contract/schema/record.ts'
import type { PermissionRow, StoredDocument } from '../../../database/schema/app_store.ts'
import type { AppRow } from '../../../database/schema/apps.ts'
import { peoplePlaces, secondStageOf } from './approver-settings.ts'
import { withDefaults } from './merge.ts'
import { toPermissionBase } from './permission-base.ts'
import type { ReferencePlace } from './references.ts'

/** Values of a new permission (core-interface.md section 1.17). */
const DEFAULTS: RequestConfigView = {
  appstore_visibility: 'HIDDEN',
  allowed_groups_override: false,
  allowed_groups: ALL_GROUPS,
  request_approval_config: {
    request_approval_config_override: false,
    manager_approval: 'NONE',
    require_additional_approval: false,
    custom_approval_message: null,
    custom_approval_message_override: false,
    approvers: NO_PEOPLE,
    approvers_stage_2: NO_PEOPLE,
    request_approval_stages: [{}],
  },
  request_fulfillment_config: {
    manual_steps_needed: false,
    manual_instructions: null,
    time_based_access: [],
    time_based_access_override: false,
    provisioning_group: null,
    provisioning_webhook: null,
  },
  access_removal_inline_webhook: null,
  request_validation_inline_webhook: null,
}

const approval = 'request_approval_config'
const fulfillment = 'request_fulfillment_config'
const stageApprover = [approval, 'request_approval_stages', '*', 'approvers', '*']

/** Places of references in a `request_config`. */
export const CONFIG_PLACES: readonly ReferencePlace[] = [
  { path: ['allowed_groups', 'groups', '*'], kind: 'group' },
  ...peoplePlaces(approval, 'approvers'),
  ...peoplePlaces(approval, 'approvers_stage_2'),
  { path: [...stageApprover, 'user'], kind: 'user' },
  { path: [...stageApprover, 'group'], kind: 'group' },
  { path: [fulfillment, 'provisioning_group'], kind: 'group' },
  { path: [fulfillment, 'provisioning_webhook'], kind: 'webhook', hookType: 'PROVISION' },
  { path: ['access_removal_inline_webhook'], kind: 'webhook', hookType: 'DEPROVISION' },
  { path: ['request_validation_inline_webhook'], kind: 'webhook', hookType: 'REQUEST_VALIDATION' },
]

/** Places of references in a permission. */
export const PERMISSION_PLACES: readonly ReferencePlace[] = CONFIG_PLACES.map((place) => ({
  ...place,
  path: ['request_config', ...place.path],
}))

/** Returns a permission's own values, with defaults for the rest. */
export function configView(document: StoredDocument): RequestConfigView {
  const view = withDefaults(DEFAULTS, document)
  const written = membersOf(document[approval])
  return {
    ...view,
    [approval]: { ...view[approval], require_additional_approval: secondStageOf(written) },
  }
}

/**
 * Returns the settings for requests of the permission. The app's settings apply where an override flag is
 * off, and to members without a flag that are not set.
 */
function inheriting(own: RequestConfigView, document: StoredDocument, app: SettingsView) {
  const { request_flow: flow, provisioning } = app
  const approvals = own.request_approval_config
  const fulfillments = own.request_fulfillment_config
  const written = membersOf(document[fulfillment])
  return {
    ...own,
    allowed_groups: own.allowed_groups_override ? own.allowed_groups : flow.allowed_groups,
    request_approval_config: {
      ...approvals,
      ...(approvals.request_approval_config_override
        ? {}
        : {
            manager_approval: flow.require_manager_approval
              ? ('INITIAL_APPROVAL' as const)
              : ('NONE' as const),
            require_additional_approval: flow.require_additional_approval,
            approvers: flow.approvers,
            approvers_stage_2: flow.approvers_stage_2,
            request_approval_stages: DEFAULTS[approval].request_approval_stages,
          }),
      custom_approval_message: approvals.custom_approval_message_override
        ? approvals.custom_approval_message
        : flow.custom_approval_message,
    },
    request_fulfillment_config: {
      ...fulfillments,
      manual_steps_needed:
        typeof written['manual_steps_needed'] === 'boolean'
          ? written['manual_steps_needed']
          : provisioning.manual_steps_needed,
      manual_instructions:
        fulfillments.manual_instructions ?? provisioning.custom_provisioning_instructions,
      time_based_access: fulfillments.time_based_access_override
        ? fulfillments.time_based_access
        : provisioning.time_based_access,
      provisioning_webhook: fulfillments.provisioning_webhook ?? provisioning.provisioning_webhook,
    },
    access_removal_inline_webhook:
      own.access_removal_inline_webhook ?? provisioning.access_removal_inline_webhook,
    request_validation_inline_webhook:
      own.request_validation_inline_webhook ?? flow.request_validation_inline_webhook,
  }
}

type Reading = {
  /** Whether to include values inherited from the app's settings. */
  inherited: boolean
  /** Whether to show everything, or only what requesters need. */
  whole: boolean
}

/** Converts a permission to its wire form, with references as ids. */
export function permissionView(
  row: PermissionRow,
  app: AppRow,
  settings: SettingsView,
  { inherited, whole }: Reading,
) {
  const own = configView(row.document)
  const config = inherited ? inheriting(own, row.document, settings) : own
  const shown = whole ? config : forRequesters(config)
  const stages = config.request_approval_config.request_approval_stages
  return {
    ...toPermissionBase(row, app),
    request_config: {
      ...shown,
      request_approval_config: {
        ...shown.request_approval_config,
        // Explicit stages describe more than the two lists of approvers do.
        response_describes_entire_approval_workflow:
          whole && stages.every(({ approvers }) => !approvers?.length),
      },
    },
  }
}

/** Removes approvers, allowed groups and fulfilment from a configuration. */
function forRequesters(config: RequestConfigView): RequestConfigView {
  return {
    ...config,
    allowed_groups: null,
    request_approval_config: {
      ...config.request_approval_config,
      approvers: NO_PEOPLE,
      approvers_stage_2: NO_PEOPLE,
      request_approval_stages: DEFAULTS[approval].request_approval_stages,
    },
    request_fulfillment_config: {
      ...config.request_fulfillment_config,
      manual_instructions: null,
      provisioning_group: null,
      provisioning_webhook: null,
    },
    access_removal_inline_webhook: null,
    request_validation_inline_webhook: null,
  }
}
