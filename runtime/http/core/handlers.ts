/** Which function answers which endpoint: one line each, nothing else. */

import type { Endpoint, EndpointInput } from '../../contract/endpoints/endpoint.ts'
import type { ENDPOINTS, EndpointName } from '../../contract/endpoints/table.ts'
import { CATEGORIES } from '../../contract/models/categories.ts'
import { giveBack } from '../../core/asking/give-back.ts'
import { taskGrounds } from '../../core/asking/grounds.ts'
import { requestOutlook, requestOutlooks } from '../../core/asking/outlook.ts'
import { revokeAccess } from '../../core/asking/revoke.ts'
import { listUserAccess } from '../../core/catalogue/apps/access.ts'
import { listAccounts, listUserAccounts } from '../../core/catalogue/apps/accounts.ts'
import * as apps from '../../core/catalogue/apps/apps.ts'
import { listAssociations } from '../../core/catalogue/apps/associations.ts'
import * as connect from '../../core/catalogue/apps/connect.ts'
import * as integrations from '../../core/catalogue/apps/integrations.ts'
import * as store from '../../core/catalogue/store/app-store.ts'
import * as glass from '../../core/catalogue/store/break-glass.ts'
import * as edits from '../../core/catalogue/store/permission-edits.ts'
import * as permissions from '../../core/catalogue/store/permissions.ts'
import * as rules from '../../core/catalogue/store/pre-approval.ts'
import * as settings from '../../core/catalogue/store/settings.ts'
import { listWebhooks } from '../../core/catalogue/store/webhooks.ts'
import { listExpenses, listExpenseTotals } from '../../core/cost/expenses.ts'
import { deletePrice, listLicences, putPrice } from '../../core/cost/licences.ts'
import * as delegations from '../../core/delegation/delegations.ts'
import { listIdentityEvents } from '../../core/directory/identity-events.ts'
import * as users from '../../core/directory/users.ts'
import { acceptFinding, getFinding, listFindings, reopenFinding } from '../../core/findings/read.ts'
import { listActivity } from '../../core/kernel/audit/activity.ts'
import { verifyNewest } from '../../core/kernel/audit/chain.ts'
import type { RequestContext } from '../../core/kernel/context/context.ts'
import type { Principal } from '../../core/kernel/identity/principal.ts'
import { changePersonalSettings, getPersonalSettings } from '../../core/mail/settings.ts'
import * as offboardings from '../../core/offboarding/offboardings.ts'
import { listOffboardings } from '../../core/offboarding/progress.ts'
import { exportOwn } from '../../core/personal-data/own.ts'
import * as policies from '../../core/policies/policies.ts'
import { createAccessRequest } from '../../core/requests/ask.ts'
import { takeBreakGlass } from '../../core/requests/break-glass.ts'
import { cancelAccessRequest } from '../../core/requests/cancel.ts'
import { getAccessRequest, listAccessRequests } from '../../core/requests/read.ts'
import * as reviewChange from '../../core/reviews/change.ts'
import { completeReview, startRemoval } from '../../core/reviews/close.ts'
import { addReviewApps, createReview } from '../../core/reviews/create.ts'
import { decideItems } from '../../core/reviews/decide.ts'
import { evidenceKeys } from '../../core/reviews/evidence/keys.ts'
import {
  takeAccessEvidence,
  takeEvidence,
  takeOffboardingEvidence,
} from '../../core/reviews/evidence/take.ts'
import { listItems } from '../../core/reviews/items.ts'
import { reviewProgress } from '../../core/reviews/progress.ts'
import { getReview, listReviews } from '../../core/reviews/read.ts'
import { reassignItem } from '../../core/reviews/reassign.ts'
import { listScopeOptions } from '../../core/reviews/scope-options.ts'
import { previewScope } from '../../core/reviews/scope-preview.ts'
import { getReviewSettings, putReviewSettings } from '../../core/reviews/settings.ts'
import { listUploads, uploadEvidence } from '../../core/reviews/uploads.ts'
import * as scim from '../../core/scim/tokens.ts'
import * as duties from '../../core/separation/manage.ts'
import { triggerSync } from '../../core/sync/trigger.ts'
import { completeTask, dismissTask, performTaskAction } from '../../core/task-actions/act.ts'
import { commentOnTask } from '../../core/task-actions/comment.ts'
import { reassignTask } from '../../core/task-actions/reassign.ts'
import { remindApprovers } from '../../core/task-actions/remind.ts'
import * as tasks from '../../core/tasks/tasks.ts'
import * as uploads from '../../core/uploads/ask.ts'
import type { Db } from '../../database/database.ts'
import { VERSION } from '../../version.ts'
import { connectionSchemaOf } from '../schemas/connection-schema.ts'
import { ART } from './art.ts'

type Handler<E extends Endpoint> = (
  db: Db,
  principal: Principal,
  input: EndpointInput<E>,
  parts: RequestContext,
) => Promise<unknown>

export const HANDLERS: { [N in EndpointName]: Handler<(typeof ENDPOINTS)[N]> } = {
  get_current_user: (db, who) => users.getCurrentUser(db, who),
  get_personal_settings: (db, who) => getPersonalSettings(db, who),
  export_own_data: (db, who) => exportOwn(db, who),
  update_personal_settings: (db, who, { body }) => changePersonalSettings(db, who, body),
  list_users: (db, who, { query }) => users.listUsers(db, who, query),
  get_user: (db, who, { params, query }) =>
    users.getUser(db, who, id(params, 'user_id'), query.expand),
  list_user_accounts: (db, who, { params, query }) =>
    listUserAccounts(db, who, id(params, 'user_id'), query),
  get_user_access_evidence: (db, who, { params, query }, parts) =>
    takeAccessEvidence(db, who, id(params, 'user_id'), query.as_of, parts),
  list_user_access: (db, who, { params, query }) =>
    listUserAccess(db, who, id(params, 'user_id'), query),
  list_user_roles: (db, who, { params }) => users.listRoles(db, who, id(params, 'user_id')),
  add_user_role: (db, who, { params }) =>
    users.addRole(db, who, id(params, 'user_id'), id(params, 'role_name')),
  remove_user_role: (db, who, { params }) =>
    users.removeRole(db, who, id(params, 'user_id'), id(params, 'role_name')),
  list_identity_events: (db, who, { query }) => listIdentityEvents(db, who, query),
  list_groups: (db, who, { query }) => users.listGroups(db, who, query),
  get_group: (db, who, { params }) => users.getGroup(db, who, id(params, 'group_id')),
  list_group_users: (db, who, { params, query }) =>
    users.listGroupUsers(db, who, id(params, 'group_id'), query),
  list_apps: (db, who, { query }) => apps.listApps(db, who, query),
  list_app_accounts: (db, who, { query }) => listAccounts(db, who, query),
  list_associations: (db, who, { query }) => listAssociations(db, who, query),
  upload_accounts: (db, who, { body }, parts) => uploads.uploadAccounts(db, who, body, parts),
  get_account_upload: (db, who, { params }) => uploads.accountUpload(db, who, id(params, 'job_id')),
  upload_activity_records: (db, who, { body }, parts) =>
    uploads.uploadActivity(db, who, body, parts),
  get_activity_record_job: (db, who, { params }) =>
    uploads.activityUpload(db, who, id(params, 'activity_job_id')),
  get_app: (db, who, { params, query }) => apps.getApp(db, who, id(params, 'app_id'), query.expand),
  list_app_categories: async () => CATEGORIES,
  create_app: (db, who, { body }, parts) => connect.createApp(db, who, body, parts),
  update_app: (db, who, { params, body }, parts) =>
    connect.updateApp(db, who, id(params, 'app_id'), body, parts),
  put_app: (db, who, { params, body }, parts) =>
    connect.putApp(db, who, id(params, 'app_id'), body, parts),
  disconnect_app: (db, who, { params }) => connect.disconnectApp(db, who, id(params, 'app_id')),
  sync_app: (db, who, { params, body }, parts) =>
    triggerSync(db, who, id(params, 'app_id'), body, parts),
  list_integrations: (_, who, { query }, parts) => integrations.listIntegrations(who, query, parts),
  get_integration: (_, who, { params }, parts) =>
    integrations.getIntegration(who, id(params, 'app_class_id'), parts),
  get_connection_schema: async (_, who, { params }, parts) =>
    connectionSchemaOf(
      integrations.findIntegration(who, id(params, 'app_class_id'), parts).manifest,
    ),
  list_appstore_apps: (db, who, { query }) => store.listStoreApps(db, who, query),
  add_appstore_app: (db, who, { body }) => store.addStoreApp(db, who, body),
  get_appstore_app: (db, who, { params, query }) =>
    store.getStoreApp(db, who, id(params, 'app_id'), query.expand),
  remove_appstore_app: (db, who, { params }) => store.removeStoreApp(db, who, id(params, 'app_id')),
  get_appstore_app_settings: (db, who, { params }) =>
    settings.getStoreSettings(db, who, id(params, 'app_id')),
  update_appstore_app_settings: (db, who, { params, body }) =>
    settings.updateStoreSettings(db, who, id(params, 'app_id'), body),
  get_app_settings: (db, who, { params }) => settings.getSettings(db, who, id(params, 'app_id')),
  update_app_settings: (db, who, { params, body }) =>
    settings.updateSettings(db, who, id(params, 'app_id'), body),
  list_inline_webhooks: (db, who) => listWebhooks(db, who),
  list_app_permissions: (db, who, { params, query }) =>
    permissions.listPermissions(db, who, id(params, 'app_id'), query),
  list_permissions: (db, who, { query }) =>
    permissions.listPermissions(db, who, query.app_id, query),
  create_permission: (db, who, { query, body }) =>
    edits.createPermission(db, who, body, query.include_inherited_configs),
  get_permission: (db, who, { params, query }) =>
    permissions.getPermission(
      db,
      who,
      id(params, 'permission_id'),
      query.include_inherited_configs,
    ),
  update_permission: (db, who, { params, query, body }) =>
    edits.updatePermission(
      db,
      who,
      id(params, 'permission_id'),
      body,
      query.include_inherited_configs,
    ),
  delete_permission: (db, who, { params }, parts) =>
    edits.deletePermission(db, who, id(params, 'permission_id'), parts),
  create_access_request: (db, who, { body }, parts) => createAccessRequest(db, who, body, parts),
  list_access_requests: (db, who, { query }) => listAccessRequests(db, who, query),
  get_access_request: (db, who, { params, query }) =>
    getAccessRequest(db, who, id(params, 'access_request_id'), query.expand),
  cancel_access_request: (db, who, { params, query }, parts) =>
    cancelAccessRequest(db, who, id(params, 'access_request_id'), query.reason, parts),
  give_back_access: (db, who, { params }, parts) =>
    giveBack(db, who, id(params, 'access_request_id'), parts),
  revoke_access: (db, who, { params, body }, parts) =>
    revokeAccess(db, who, id(params, 'access_request_id'), body.reason, parts),
  remind_approvers: (db, who, { params, body }) =>
    remindApprovers(db, who, id(params, 'access_request_id'), body.comment),
  get_request_outlook: (db, who, { params, query }) =>
    requestOutlook(db, who, id(params, 'app_id'), query),
  list_request_outlooks: (db, who, { query }) => requestOutlooks(db, who, query),
  list_access_policies: (db, who, { query }) => policies.listPolicies(db, who, query),
  create_access_policy: (db, who, { body }, parts) => policies.createPolicy(db, who, body, parts),
  get_access_policy: (db, who, { params }) =>
    policies.getPolicy(db, who, id(params, 'access_policy_id')),
  put_access_policy: (db, who, { params, body }, parts) =>
    policies.putPolicy(db, who, id(params, 'access_policy_id'), body, parts),
  delete_access_policy: (db, who, { params }, parts) =>
    policies.deletePolicy(db, who, id(params, 'access_policy_id'), parts),
  create_user_offboarding: (db, who, { body }, parts) =>
    offboardings.createOffboarding(db, who, body, parts),
  list_user_offboardings: (db, who, { query }) => listOffboardings(db, who, query),
  get_user_offboarding_evidence: (db, who, { params }, parts) =>
    takeOffboardingEvidence(db, who, id(params, 'user_offboarding_id'), parts),
  get_user_offboarding: (db, who, { params }) =>
    offboardings.getOffboarding(db, who, id(params, 'user_offboarding_id')),
  cancel_user_offboarding: (db, who, { params }, parts) =>
    offboardings.cancelOffboarding(db, who, id(params, 'user_offboarding_id'), parts),
  create_access_review: (db, who, { body }, parts) => createReview(db, who, body, parts),
  list_access_reviews: (db, who, { query }) => listReviews(db, who, query),
  list_access_review_scope_options: (db, who, { query }) => listScopeOptions(db, who, query),
  preview_access_review_scope: (db, who, { body }) => previewScope(db, who, body),
  add_access_review_apps: (db, who, { params, body }, parts) =>
    addReviewApps(db, who, id(params, 'access_review_id'), body, parts),
  delete_access_review: (db, who, { params }, parts) =>
    reviewChange.deleteReview(db, who, id(params, 'access_review_id'), parts),
  get_access_review: (db, who, { params }) => getReview(db, who, id(params, 'access_review_id')),
  update_access_review: (db, who, { params, body }, parts) =>
    reviewChange.updateReview(db, who, id(params, 'access_review_id'), body, parts),
  remove_access_review_app: (db, who, { params }, parts) =>
    reviewChange.removeReviewApp(
      db,
      who,
      id(params, 'access_review_id'),
      id(params, 'arda_id'),
      parts,
    ),
  get_access_review_settings: (db, who, { params }) =>
    getReviewSettings(db, who, id(params, 'access_review_id')),
  put_access_review_settings: (db, who, { params, body }) =>
    putReviewSettings(db, who, id(params, 'access_review_id'), body),
  list_access_review_items: (db, who, { params, query }) =>
    listItems(db, who, id(params, 'access_review_id'), query),
  decide_access_review_items: (db, who, { params, body }) =>
    decideItems(db, who, id(params, 'access_review_id'), body),
  reassign_access_review_item: (db, who, { params, body }) =>
    reassignItem(db, who, id(params, 'access_review_id'), id(params, 'item_id'), body),
  start_access_review_removal: (db, who, { params }, parts) =>
    startRemoval(db, who, id(params, 'access_review_id'), id(params, 'arda_id'), parts),
  complete_access_review: (db, who, { params }, parts) =>
    completeReview(db, who, id(params, 'access_review_id'), parts),
  get_access_review_progress: (db, who, { params }) =>
    reviewProgress(db, who, id(params, 'access_review_id')),
  upload_access_review_evidence: (db, who, { params, body }) =>
    uploadEvidence(db, who, id(params, 'access_review_id'), body),
  list_access_review_uploads: (db, who, { params, query }) =>
    listUploads(db, who, id(params, 'access_review_id'), query),
  get_access_review_evidence: (db, who, { params }, parts) =>
    takeEvidence(db, who, id(params, 'access_review_id'), parts),
  get_evidence_keys: async (_db, _who, _input, { signer }) => evidenceKeys(signer),
  list_findings: (db, who, { query }) => listFindings(db, who, query),
  get_finding: (db, who, { params }) => getFinding(db, who, id(params, 'finding_id')),
  accept_finding: (db, who, { params, body }, parts) =>
    acceptFinding(db, who, id(params, 'finding_id'), body, parts),
  reopen_finding: (db, who, { params }) => reopenFinding(db, who, id(params, 'finding_id')),
  list_break_glass: (db, who, { query }) => glass.listBreakGlass(db, who, query),
  put_break_glass: (db, who, { params, body }) =>
    glass.putBreakGlass(db, who, id(params, 'break_glass_id'), body),
  delete_break_glass: (db, who, { params }) =>
    glass.deleteBreakGlass(db, who, id(params, 'break_glass_id')),
  take_break_glass: (db, who, { params, body }, parts) =>
    takeBreakGlass(db, who, id(params, 'break_glass_id'), body, parts),
  list_recorded_expenses: (db, who, { query }) => listExpenses(db, who, query),
  list_expense_totals: (db, who, { query }) => listExpenseTotals(db, who, query),
  list_licences: (db, who, { query }) => listLicences(db, who, query),
  put_licence_price: (db, who, { params, body }) =>
    putPrice(db, who, id(params, 'licence_id'), body),
  delete_licence_price: (db, who, { params }) => deletePrice(db, who, id(params, 'licence_id')),
  list_separation_rules: (db, who, { query }) => duties.listSeparationRules(db, who, query),
  create_separation_rule: (db, who, { body }, parts) =>
    duties.createSeparationRule(db, who, body, parts),
  get_separation_rule: (db, who, { params }) =>
    duties.getSeparationRule(db, who, id(params, 'separation_rule_id')),
  put_separation_rule: (db, who, { params, body }, parts) =>
    duties.putSeparationRule(db, who, id(params, 'separation_rule_id'), body, parts),
  delete_separation_rule: (db, who, { params }, parts) =>
    duties.deleteSeparationRule(db, who, id(params, 'separation_rule_id'), parts),
  list_delegations: (db, who, { query }) => delegations.listDelegations(db, who, query),
  create_delegation: (db, who, { body }, parts) =>
    delegations.createDelegation(db, who, body, parts),
  end_delegation: (db, who, { params }, parts) =>
    delegations.endDelegation(db, who, id(params, 'delegation_id'), parts),
  list_pre_approval_rules: (db, who, { query }) => rules.listRules(db, who, query.app_id, query),
  create_pre_approval_rule: (db, who, { body }) => rules.createRule(db, who, body),
  get_pre_approval_rule: (db, who, { params }) =>
    rules.getRule(db, who, id(params, 'pre_approval_rule_id')),
  update_pre_approval_rule: (db, who, { params, body }) =>
    rules.updateRule(db, who, id(params, 'pre_approval_rule_id'), body),
  delete_pre_approval_rule: (db, who, { params }) =>
    rules.deleteRule(db, who, id(params, 'pre_approval_rule_id')),
  list_tasks: (db, who, { query }) => tasks.listTasks(db, who, query),
  get_task: (db, who, { params, query }) =>
    tasks.getTask(db, who, id(params, 'task_id'), query.expand),
  list_task_actions: (db, who, { params }) => tasks.listTaskActions(db, who, id(params, 'task_id')),
  get_task_grounds: (db, who, { params }) => taskGrounds(db, who, id(params, 'task_id')),
  perform_task_action: (db, who, { params, body }, parts) =>
    performTaskAction(db, who, id(params, 'task_id'), body, parts),
  reassign_task: (db, who, { params, body }) => reassignTask(db, who, id(params, 'task_id'), body),
  comment_on_task: (db, who, { params, body }) =>
    commentOnTask(db, who, id(params, 'task_id'), body),
  complete_task: (db, who, { params }, parts) =>
    completeTask(db, who, id(params, 'task_id'), parts),
  dismiss_task: (db, who, { params }, parts) => dismissTask(db, who, id(params, 'task_id'), parts),
  list_scim_tokens: (db, who, { query }) => scim.listScimTokens(db, who, query),
  create_scim_token: (db, who, { body }, parts) => scim.createScimToken(db, who, body, parts),
  revoke_scim_token: (db, who, { params }) =>
    scim.revokeScimToken(db, who, id(params, 'scim_token_id')),
  list_activity_logs: (db, who, { query }) => listActivity(db, who, query),
  get_log_chain: (db, who) => verifyNewest(db, who.domainId),
  get_art: async () => ART,
  get_info: async () => ({ name: 'Keyway', version: VERSION }),
}

const id = (params: Record<string, string>, name: string): string => params[name] ?? ''
