/** Request settings of an app or a permission, in one common form. */
import type { AccessLength } from '../../contract/models/access-length.ts'
import type { People } from '../../contract/models/approval.ts'
import type { RequestConfigView } from '../../contract/models/requestable-permission.ts'
import type { PermissionRow, SettingsRow } from '../../database/schema/app_store.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import type { ApprovalPlan, PeopleAndGroups } from '../../database/schema/requests.ts'
import { namesNoOne } from '../catalogue/store/approver-settings.ts'
import { permissionView } from '../catalogue/store/permission-view.ts'
import { settingsView } from '../catalogue/store/settings-view.ts'

/** Settings by which a request is approved and fulfilled. */
export type RequestConfig = {
  plan: ApprovalPlan
  /** Lengths to choose from. An empty list permits all. */
  lengths: readonly AccessLength[]
  defaultLength: AccessLength | null
  manualSteps: boolean
  instructions: string | null
  /** Id of a group that stands for the permission. */
  provisioningGroup: string | null
  provisioningWebhook: string | null
  removalWebhook: string | null
}

/** Returns the current settings. */
export function requestConfig(
  app: AppRow,
  row: SettingsRow | null,
  permission: PermissionRow | null,
): RequestConfig {
  const settings = settingsView(app, row)
  const { request_flow: flow, provisioning } = settings
  const defaultLength = provisioning.default_time_based_access_option
  if (permission === null)
    return {
      plan: {
        manager: flow.require_manager_approval,
        stages: twoStages(flow),
        message: flow.custom_approval_message || null,
        validationWebhook: flow.request_validation_inline_webhook,
      },
      lengths: provisioning.time_based_access,
      defaultLength,
      manualSteps: provisioning.manual_steps_needed,
      instructions: provisioning.custom_provisioning_instructions,
      provisioningGroup: null,
      provisioningWebhook: provisioning.provisioning_webhook,
      removalWebhook: provisioning.access_removal_inline_webhook,
    }
  const reading = { inherited: true, whole: true }
  const view = permissionView(permission, app, settings, reading)
  const config: RequestConfigView = view.request_config
  const approval = config.request_approval_config
  const fulfillment = config.request_fulfillment_config
  return {
    plan: {
      manager: approval.manager_approval === 'INITIAL_APPROVAL',
      stages: ownStages(approval) ?? twoStages(approval),
      message: approval.custom_approval_message || null,
      validationWebhook: config.request_validation_inline_webhook,
    },
    lengths: fulfillment.time_based_access,
    defaultLength,
    manualSteps: fulfillment.manual_steps_needed,
    instructions: fulfillment.manual_instructions,
    provisioningGroup: fulfillment.provisioning_group,
    provisioningWebhook: fulfillment.provisioning_webhook,
    removalWebhook: config.access_removal_inline_webhook,
  }
}

type TwoStages = {
  require_additional_approval: boolean
  approvers: People
  approvers_stage_2: People
}

/** Returns the first stage and, if enabled, the second. Leaves out stages without approvers. */
const twoStages = (flow: TwoStages): PeopleAndGroups[] =>
  [flow.approvers, ...(flow.require_additional_approval ? [flow.approvers_stage_2] : [])].filter(
    (one) => !namesNoOne(one),
  )

/** Returns the stages that were configured one by one, or null if there are none. */
function ownStages({
  request_approval_stages: stages,
}: RequestConfigView['request_approval_config']): PeopleAndGroups[] | null {
  const written = stages
    .map(({ approvers }) => approvers ?? [])
    .filter(({ length }) => length > 0)
    .map((approvers) => ({
      users: approvers.flatMap(({ user }) => (user ? [user] : [])),
      groups: approvers.flatMap(({ group }) => (group ? [group] : [])),
    }))
  return written.length > 0 ? written : null
}
