/** Rules that approve requests in advance: core-interface.md sections 1.8 and 2.2. */
import * as v from 'valibot'
import { object, strictObject } from '../schema/schemas.ts'
import { AccessLength, timeBasedAccess } from './access-length.ts'
import { InlineWebhook } from './inline-webhook.ts'
import { Group } from './person.ts'
import {
  BaseGroup,
  BaseInlineWebhook,
  listOf,
  MAX_NAME,
  prose,
  RequestablePermissionBase,
} from './reference.ts'
import { RequestablePermissionBaseOutput } from './requestable-permission.ts'

const named = v.pipe(v.string(), v.maxLength(MAX_NAME))

const AttributeEqualityRule = object(
  'AttributeEqualityRule',
  'Users whose attribute has the value',
  { attribute: named, value: named },
)

const ruleInput = {
  justification: prose('Why no approval is needed'),
  time_based_access: v.optional(timeBasedAccess()),
  preapproved_groups: v.optional(listOf(BaseGroup)),
  preapproved_permissions: v.optional(listOf(RequestablePermissionBase)),
  preapproved_users_by_attribute: v.optional(listOf(AttributeEqualityRule)),
  preapproval_webhooks: v.optional(listOf(BaseInlineWebhook)),
}

export const PreApprovalRuleInput = object('PreApprovalRuleInput', {
  ...ruleInput,
  app_id: v.string(),
})
export type PreApprovalRuleInput = v.InferOutput<typeof PreApprovalRuleInput>

export const PreApprovalRuleUpdateInput = object('PreApprovalRuleUpdateInput', ruleInput)
export type PreApprovalRuleUpdateInput = v.InferOutput<typeof PreApprovalRuleUpdateInput>

export const PreApprovalRuleOutput = strictObject('PreApprovalRuleOutput', {
  justification: v.string(),
  time_based_access: v.array(AccessLength),
  id: v.string(),
  app_id: v.string(),
  app_class_id: v.string(),
  app_instance_id: v.string(),
  preapproved_groups: v.array(Group),
  preapproved_users_by_attribute: v.array(AttributeEqualityRule),
  preapproved_permissions: v.array(RequestablePermissionBaseOutput),
  preapproval_webhooks: v.array(InlineWebhook),
})
export type PreApprovalRuleOutput = v.InferInput<typeof PreApprovalRuleOutput>
