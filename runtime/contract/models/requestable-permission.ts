/** Requestable permissions of an app: core-interface.md sections 1.7, 1.17 and 2.2. */
import * as v from 'valibot'
import { described, keptNull, maybe, nullable, object, strictObject } from '../schema/schemas.ts'
import { AccessLength, timeBasedAccess } from './access-length.ts'
import {
  AllowedGroupsConfigInput,
  AllowedGroupsConfigOutput,
  AppApproversInput,
  AppApproversOutput,
  RequestApprovalStageInput,
  RequestApprovalStageOutput,
} from './approval.ts'
import { InlineWebhook } from './inline-webhook.ts'
import { Group } from './person.ts'
import { BaseGroup, BaseInlineWebhook, type ById, listOf, prose } from './reference.ts'

export const PERMISSION_TYPES = ['SYNCED', 'NATIVE'] as const
export const PERMISSION_VISIBILITIES = ['HIDDEN', 'VISIBLE'] as const
const MANAGER_APPROVALS = ['NONE', 'INITIAL_APPROVAL'] as const

/** Maximum number of approval stages. */
const MAX_STAGES = 10

const override = (what: string) =>
  described(v.boolean(), `Whether ${what} differ from those of the app`)

const RequestApprovalConfigInput = object('RequestApprovalConfigInput', {
  request_approval_config_override: keptNull(override('the approvers and the approval steps')),
  manager_approval: keptNull(v.picklist(MANAGER_APPROVALS)),
  require_additional_approval: keptNull(v.boolean()),
  custom_approval_message: keptNull(prose('Message shown with the approval')),
  custom_approval_message_override: keptNull(override('the messages for approvers')),
  approvers: v.optional(AppApproversInput),
  approvers_stage_2: v.optional(AppApproversInput),
  request_approval_stages: keptNull(listOf(RequestApprovalStageInput, MAX_STAGES)),
})

const fulfillmentInput = {
  manual_steps_needed: keptNull(v.boolean()),
  manual_instructions: keptNull(prose('Instructions for the manual steps')),
  time_based_access: v.optional(timeBasedAccess()),
  time_based_access_override: keptNull(override('the durations of access')),
  provisioning_group: keptNull(BaseGroup),
  provisioning_webhook: keptNull(BaseInlineWebhook),
}

const RequestFulfillmentConfigInput = object('RequestFulfillmentConfigInput', fulfillmentInput)

/** The group may be sent back as it was read. A different one is refused. */
const RequestFulfillmentConfigInputUpdate = object(
  'RequestFulfillmentConfigInputUpdate',
  fulfillmentInput,
)

const requestConfigInput = {
  appstore_visibility: keptNull(v.picklist(PERMISSION_VISIBILITIES)),
  allowed_groups_override: keptNull(override('the allowed groups')),
  allowed_groups: keptNull(AllowedGroupsConfigInput),
  request_approval_config: keptNull(RequestApprovalConfigInput),
  access_removal_inline_webhook: keptNull(BaseInlineWebhook),
  request_validation_inline_webhook: keptNull(BaseInlineWebhook),
}

const RequestConfigInputCreate = object('RequestConfigInputCreate', {
  ...requestConfigInput,
  request_fulfillment_config: keptNull(RequestFulfillmentConfigInput),
})

const RequestConfigInputUpdate = object('RequestConfigInputUpdate', {
  ...requestConfigInput,
  request_fulfillment_config: keptNull(RequestFulfillmentConfigInputUpdate),
})

/** Maximum length of a label, in characters. It is in an index, whose entries hold 2704 bytes. */
const MAX_LABEL = 512

const label = v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_LABEL))

export const RequestablePermissionInput = object('RequestablePermissionInput', {
  app_id: v.string(),
  app_class_id: maybe(v.string()),
  app_instance_id: maybe(v.string()),
  label,
  request_config: keptNull(RequestConfigInputCreate),
})
export type RequestablePermissionInput = v.InferOutput<typeof RequestablePermissionInput>

export const RequestablePermissionInputUpdate = object('RequestablePermissionInputUpdate', {
  app_id: maybe(v.string()),
  app_class_id: maybe(v.string()),
  app_instance_id: maybe(v.string()),
  label: maybe(label),
  request_config: keptNull(RequestConfigInputUpdate),
})
export type RequestablePermissionInputUpdate = v.InferOutput<
  typeof RequestablePermissionInputUpdate
>

const RequestApprovalConfigOutput = strictObject('RequestApprovalConfigOutput', {
  request_approval_config_override: nullable(v.boolean()),
  manager_approval: nullable(v.picklist(MANAGER_APPROVALS)),
  require_additional_approval: nullable(v.boolean()),
  custom_approval_message: nullable(v.string()),
  custom_approval_message_override: nullable(v.boolean()),
  approvers: nullable(AppApproversOutput),
  approvers_stage_2: nullable(AppApproversOutput),
  request_approval_stages: nullable(v.array(RequestApprovalStageOutput)),
  response_describes_entire_approval_workflow: nullable(v.boolean()),
})

const RequestFulfillmentConfigOutput = strictObject('RequestFulfillmentConfigOutput', {
  manual_steps_needed: nullable(v.boolean()),
  manual_instructions: nullable(v.string()),
  time_based_access: v.array(AccessLength),
  time_based_access_override: nullable(v.boolean()),
  provisioning_group: nullable(Group),
  provisioning_webhook: nullable(InlineWebhook),
})

const RequestConfigOutput = strictObject('RequestConfigOutput', {
  appstore_visibility: v.picklist(PERMISSION_VISIBILITIES),
  allowed_groups_override: nullable(v.boolean()),
  allowed_groups: nullable(AllowedGroupsConfigOutput),
  request_approval_config: RequestApprovalConfigOutput,
  request_fulfillment_config: RequestFulfillmentConfigOutput,
  access_removal_inline_webhook: nullable(InlineWebhook),
  request_validation_inline_webhook: nullable(InlineWebhook),
})

type Answered = v.InferOutput<typeof RequestConfigOutput>
type Approval = Omit<
  Answered['request_approval_config'],
  'request_approval_stages' | 'response_describes_entire_approval_workflow'
>
type Stage = v.InferInput<typeof RequestApprovalStageOutput>

/** Members that may be null if nothing was written. All others have a default. */
type Bare =
  | 'allowed_groups'
  | 'custom_approval_message'
  | 'manual_instructions'
  | 'provisioning_group'
  | `${string}_webhook`
type Held<T> = { [K in keyof T]: K extends Bare ? T[K] : NonNullable<T[K]> }

/** The current `request_config`, with ids in place of referenced objects. */
export type RequestConfigView = Held<
  ById<Omit<Answered, 'request_approval_config' | 'request_fulfillment_config'>>
> & {
  request_approval_config: Held<ById<Approval>> & { request_approval_stages: ById<Stage>[] }
  request_fulfillment_config: Held<ById<Answered['request_fulfillment_config']>>
}

const permission = {
  id: v.string(),
  type: nullable(v.picklist(PERMISSION_TYPES)),
  label: v.string(),
  app_id: v.string(),
  app_class_id: v.string(),
  app_instance_id: v.string(),
}

export const RequestablePermissionBaseOutput = strictObject(
  'RequestablePermissionBaseOutput',
  permission,
)

export const RequestablePermissionOutput = strictObject('RequestablePermissionOutput', {
  ...permission,
  request_config: RequestConfigOutput,
})
export type RequestablePermissionOutput = v.InferInput<typeof RequestablePermissionOutput>
