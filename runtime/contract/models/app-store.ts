/**
 * Apps in the app store and their settings: core-interface.md sections 1.6, 1.17 and 2.2. The settings have
 * two views, which differ in one member.
 */
import * as v from 'valibot'
import { keptNull, nullable, object, strictObject } from '../schema/schemas.ts'
import { AccessLength, timeBasedAccess } from './access-length.ts'
import { AppWithCustomAttributes } from './app.ts'
import {
  ALL_GROUPS,
  type AllowedGroups,
  AllowedGroupsConfigInput,
  AllowedGroupsConfigOutput,
  AppAdminsInput,
  AppAdminsOutput,
  AppApproversInput,
  AppApproversOutput,
  NO_PEOPLE,
} from './approval.ts'
import { InlineWebhook } from './inline-webhook.ts'
import { BaseInlineWebhook, type ById, prose, RequestablePermissionBase } from './reference.ts'
import { RequestablePermissionOutput } from './requestable-permission.ts'

/** Visibility of an app in the store: to everyone, to members of its allowed groups, or to no one. */
export const DISCOVERABILITIES = ['FULL', 'LIMITED', 'NONE'] as const

/** How permissions are granted, and whether requesters see them (core-interface.md section 1.17). */
const GROUP_PROVISIONINGS = ['DIRECT_TO_USER', 'GROUPS_AND_HIDDEN', 'GROUPS_AND_VISIBLE'] as const

export const AppStoreApp = strictObject('AppStoreApp', AppWithCustomAttributes.entries)

export const AppLeftStore = strictObject('AppLeftStore', 'The app, kept outside the app store', {
  id: v.string(),
  in_app_store: v.boolean(),
})

/**
 * Maximum length of the URL that requesters are redirected to, in characters (core-interface.md section 2.2).
 */
const MAX_REDIRECT_URL = 2048

const redirectUrl = v.pipe(
  v.string(),
  v.maxLength(MAX_REDIRECT_URL),
  // Browsers open it. A `javascript:` URL would run with the store's rights.
  v.check(
    (text) => text === '' || (/^https?:\/\//i.test(text) && URL.canParse(text)),
    'redirect_url must be an absolute address that begins with https:// or http://',
  ),
  v.metadata({ description: 'URL that requesters are redirected to instead' }),
)

const requestFlowInput = object('AppStoreAppSettingsRequestFlowInput', {
  discoverability: v.optional(v.picklist(DISCOVERABILITIES)),
  custom_approval_message: v.optional(prose('Message shown with the approval')),
  require_manager_approval: v.optional(v.boolean()),
  require_additional_approval: v.optional(v.boolean()),
  allowed_groups: keptNull(AllowedGroupsConfigInput),
  approvers: v.optional(AppApproversInput),
  approvers_stage_2: v.optional(AppApproversInput),
  admins: v.optional(AppAdminsInput),
  request_validation_inline_webhook: keptNull(BaseInlineWebhook),
})

const provisioningInput = object('AppStoreAppSettingsProvisioningInput', {
  groups_provisioning: v.optional(v.picklist(GROUP_PROVISIONINGS)),
  time_based_access: v.optional(timeBasedAccess()),
  allow_multiple_permission_selection: v.optional(v.boolean()),
  manual_steps_needed: v.optional(v.boolean()),
  custom_provisioning_instructions: keptNull(prose('Instructions for the manual steps')),
  default_time_based_access_option: keptNull(AccessLength),
  default_permission: keptNull(RequestablePermissionBase),
  provisioning_webhook: keptNull(BaseInlineWebhook),
  access_removal_inline_webhook: keptNull(BaseInlineWebhook),
})

const settingsInput = {
  custom_request_instructions: v.optional(prose('Instructions for requesters')),
  redirect_url: keptNull(redirectUrl),
  request_flow: v.optional(requestFlowInput),
  provisioning: v.optional(provisioningInput),
}

export const AppStoreAppSettingsInput = object('AppStoreAppSettingsInput', settingsInput)
export type AppStoreAppSettingsInput = v.InferOutput<typeof AppStoreAppSettingsInput>

export const AppSettingInput = object('AppSettingInput', {
  ...settingsInput,
  in_app_store: v.optional(v.boolean()),
})
export type AppSettingInput = v.InferOutput<typeof AppSettingInput>

export const AddAppToAppStoreInput = object('AddAppToAppStoreInput', {
  app_id: v.string(),
  ...settingsInput,
})
export type AddAppToAppStoreInput = v.InferOutput<typeof AddAppToAppStoreInput>

const requestFlowOutput = strictObject('AppStoreAppSettingsRequestFlowOutput', {
  discoverability: v.picklist(DISCOVERABILITIES),
  custom_approval_message: v.string(),
  require_manager_approval: v.boolean(),
  require_additional_approval: v.boolean(),
  allowed_groups: nullable(AllowedGroupsConfigOutput),
  approvers: AppApproversOutput,
  approvers_stage_2: AppApproversOutput,
  response_describes_entire_approval_workflow: v.boolean(),
  admins: AppAdminsOutput,
  request_validation_inline_webhook: nullable(InlineWebhook),
})

const provisioningOutput = strictObject('AppStoreAppSettingsProvisioningOutput', {
  groups_provisioning: v.picklist(GROUP_PROVISIONINGS),
  time_based_access: v.array(AccessLength),
  allow_multiple_permission_selection: v.boolean(),
  manual_steps_needed: v.boolean(),
  custom_provisioning_instructions: nullable(v.string()),
  default_time_based_access_option: nullable(AccessLength),
  default_permission: nullable(RequestablePermissionOutput),
  provisioning_webhook: nullable(InlineWebhook),
  access_removal_inline_webhook: nullable(InlineWebhook),
})

const settingsOutput = {
  custom_request_instructions: v.string(),
  redirect_url: nullable(v.string()),
  request_flow: requestFlowOutput,
  provisioning: provisioningOutput,
}

export const AppStoreAppSettingsOutput = strictObject('AppStoreAppSettingsOutput', settingsOutput)

export const AppSettingOutput = strictObject('AppSettingOutput', {
  ...settingsOutput,
  in_app_store: v.boolean(),
})

type Answered = v.InferOutput<typeof AppSettingOutput>
type Flow = Omit<
  Answered['request_flow'],
  'allowed_groups' | 'response_describes_entire_approval_workflow'
>

/** Current settings of an app, with ids in place of referenced objects. */
export type SettingsView = ById<Omit<Answered, 'request_flow'>> & {
  request_flow: ById<Flow> & { allowed_groups: AllowedGroups }
}

/**
 * Defaults of settings that were never written. An app that is put into the store can be found there. Its
 * permissions are hidden individually, so none is shown unasked.
 */
export const STORE_DEFAULTS: SettingsView = {
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
