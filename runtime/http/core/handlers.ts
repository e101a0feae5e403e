/** Handlers of the core endpoints: one line each, and nothing else. */

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
import { exportOwn } from '../../core/personal-data/own-data.ts'
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
import { listTaskActions } from '../../core/task-actions/offered.ts'
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
  get_user: (db, who, { id, query }) => users.getUser(db, who, id, query.expand),
  list_user_accounts: (db, who, { id, query }) => listUserAccounts(db, who, id, query),
  get_user_access_evidence: (db, who, { id, query }, parts) =>
    takeAccessEvidence(db, who, id, query.as_of, parts),
  list_user_access: (db, who, { id, query }) => listUserAccess(db, who, id, query),
  list_user_roles: (db, who, { id }) => users.listRoles(db, who, id),
  add_user_role: (db, who, { id, params }) =>
    users.addRole(db, who, id, second(params, 'role_name')),
  remove_user_role: (db, who, { id, params }) =>
    users.removeRole(db, who, id, second(params, 'role_name')),
  list_identity_events: (db, who, { query }) => listIdentityEvents(db, who, query),
  list_groups: (db, who, { query }) => users.listGroups(db, who, query),
  get_group: (db, who, { id }) => users.getGroup(db, who, id),
  list_group_users: (db, who, { id, query }) => users.listGroupUsers(db, who, id, query),
  list_apps: (db, who, { query }) => apps.listApps(db, who, query),
  list_app_accounts: (db, who, { query }) => listAccounts(db, who, query),
  list_associations: (db, who, { query }) => listAssociations(db, who, query),
  upload_accounts: (db, who, { body }, parts) => uploads.uploadAccounts(db, who, body, parts),
  get_account_upload: (db, who, { id }) => uploads.accountUpload(db, who, id),
  upload_activity_records: (db, who, { body }, parts) =>
    uploads.uploadActivity(db, who, body, parts),
  get_activity_record_job: (db, who, { id }) => uploads.activityUpload(db, who, id),
  get_app: (db, who, { id, query }) => apps.getApp(db, who, id, query.expand),
  list_app_categories: async () => CATEGORIES,
  create_app: (db, who, { body }, parts) => connect.createApp(db, who, body, parts),
  update_app: (db, who, { id, body }, parts) => connect.updateApp(db, who, id, body, parts),
  put_app: (db, who, { id, body }, parts) => connect.putApp(db, who, id, body, parts),
  disconnect_app: (db, who, { id }) => connect.disconnectApp(db, who, id),
  sync_app: (db, who, { id, body }, parts) => triggerSync(db, who, id, body, parts),
  list_integrations: (_, who, { query }, parts) => integrations.listIntegrations(who, query, parts),
  get_integration: (_, who, { id }, parts) => integrations.getIntegration(who, id, parts),
  get_connection_schema: async (_, who, { id }, parts) =>
    connectionSchemaOf(integrations.findIntegration(who, id, parts).manifest),
  list_appstore_apps: (db, who, { query }) => store.listStoreApps(db, who, query),
  add_appstore_app: (db, who, { body }) => store.addStoreApp(db, who, body),
  get_appstore_app: (db, who, { id, query }) => store.getStoreApp(db, who, id, query.expand),
  remove_appstore_app: (db, who, { id }) => store.removeStoreApp(db, who, id),
  get_appstore_app_settings: (db, who, { id }) => settings.getStoreSettings(db, who, id),
  update_appstore_app_settings: (db, who, { id, body }) =>
    settings.updateStoreSettings(db, who, id, body),
  get_app_settings: (db, who, { id }) => settings.getSettings(db, who, id),
  update_app_settings: (db, who, { id, body }) => settings.updateSettings(db, who, id, body),
  list_inline_webhooks: (db, who) => listWebhooks(db, who),
  list_app_permissions: (db, who, { id, query }) => permissions.listPermissions(db, who, id, query),
  list_permissions: (db, who, { query }) =>
    permissions.listPermissions(db, who, query.app_id, query),
  create_permission: (db, who, { query, body }) =>
    edits.createPermission(db, who, body, query.include_inherited_configs),
  get_permission: (db, who, { id, query }) =>
    permissions.getPermission(db, who, id, query.include_inherited_configs),
  update_permission: (db, who, { id, query, body }) =>
    edits.updatePermission(db, who, id, body, query.include_inherited_configs),
  delete_permission: (db, who, { id }, parts) => edits.deletePermission(db, who, id, parts),
  create_access_request: (db, who, { body }, parts) => createAccessRequest(db, who, body, parts),
  list_access_requests: (db, who, { query }) => listAccessRequests(db, who, query),
  get_access_request: (db, who, { id, query }) => getAccessRequest(db, who, id, query.expand),
  cancel_access_request: (db, who, { id, query }, parts) =>
    cancelAccessRequest(db, who, id, query.reason, parts),
  give_back_access: (db, who, { id }, parts) => giveBack(db, who, id, parts),
  revoke_access: (db, who, { id, body }, parts) => revokeAccess(db, who, id, body.reason, parts),
  remind_approvers: (db, who, { id, body }) => remindApprovers(db, who, id, body.comment),
  get_request_outlook: (db, who, { id, query }) => requestOutlook(db, who, id, query),
  list_request_outlooks: (db, who, { query }) => requestOutlooks(db, who, query),
  list_access_policies: (db, who, { query }) => policies.listPolicies(db, who, query),
  create_access_policy: (db, who, { body }, parts) => policies.createPolicy(db, who, body, parts),
  get_access_policy: (db, who, { id }) => policies.getPolicy(db, who, id),
  put_access_policy: (db, who, { id, body }, parts) => policies.putPolicy(db, who, id, body, parts),
  delete_access_policy: (db, who, { id }, parts) => policies.deletePolicy(db, who, id, parts),
  create_user_offboarding: (db, who, { body }, parts) =>
    offboardings.createOffboarding(db, who, body, parts),
  list_user_offboardings: (db, who, { query }) => listOffboardings(db, who, query),
  get_user_offboarding_evidence: (db, who, { id }, parts) =>
    takeOffboardingEvidence(db, who, id, parts),
  get_user_offboarding: (db, who, { id }) => offboardings.getOffboarding(db, who, id),
  cancel_user_offboarding: (db, who, { id }, parts) =>
    offboardings.cancelOffboarding(db, who, id, parts),
  create_access_review: (db, who, { body }, parts) => createReview(db, who, body, parts),
  list_access_reviews: (db, who, { query }) => listReviews(db, who, query),
  list_access_review_scope_options: (db, who, { query }) => listScopeOptions(db, who, query),
  preview_access_review_scope: (db, who, { body }) => previewScope(db, who, body),
  add_access_review_apps: (db, who, { id, body }, parts) => addReviewApps(db, who, id, body, parts),
  delete_access_review: (db, who, { id }, parts) => reviewChange.deleteReview(db, who, id, parts),
  get_access_review: (db, who, { id }) => getReview(db, who, id),
  update_access_review: (db, who, { id, body }, parts) =>
    reviewChange.updateReview(db, who, id, body, parts),
  remove_access_review_app: (db, who, { id, params }, parts) =>
    reviewChange.removeReviewApp(db, who, id, second(params, 'arda_id'), parts),
  get_access_review_settings: (db, who, { id }) => getReviewSettings(db, who, id),
  put_access_review_settings: (db, who, { id, body }) => putReviewSettings(db, who, id, body),
  list_access_review_items: (db, who, { id, query }) => listItems(db, who, id, query),
  decide_access_review_items: (db, who, { id, body }) => decideItems(db, who, id, body),
  reassign_access_review_item: (db, who, { id, params, body }) =>
    reassignItem(db, who, id, second(params, 'item_id'), body),
  start_access_review_removal: (db, who, { id, params }, parts) =>
    startRemoval(db, who, id, second(params, 'arda_id'), parts),
  complete_access_review: (db, who, { id }, parts) => completeReview(db, who, id, parts),
  get_access_review_progress: (db, who, { id }) => reviewProgress(db, who, id),
  upload_access_review_evidence: (db, who, { id, body }) => uploadEvidence(db, who, id, body),
  list_access_review_uploads: (db, who, { id, query }) => listUploads(db, who, id, query),
  get_access_review_evidence: (db, who, { id }, parts) => takeEvidence(db, who, id, parts),
  get_evidence_keys: async (_db, _who, _input, { signer }) => evidenceKeys(signer),
  list_findings: (db, who, { query }) => listFindings(db, who, query),
  get_finding: (db, who, { id }) => getFinding(db, who, id),
  accept_finding: (db, who, { id, body }, parts) => acceptFinding(db, who, id, body, parts),
  reopen_finding: (db, who, { id }) => reopenFinding(db, who, id),
  list_break_glass: (db, who, { query }) => glass.listBreakGlass(db, who, query),
  put_break_glass: (db, who, { id, body }) => glass.putBreakGlass(db, who, id, body),
  delete_break_glass: (db, who, { id }) => glass.deleteBreakGlass(db, who, id),
  take_break_glass: (db, who, { id, body }, parts) => takeBreakGlass(db, who, id, body, parts),
  list_recorded_expenses: (db, who, { query }) => listExpenses(db, who, query),
  list_expense_totals: (db, who, { query }) => listExpenseTotals(db, who, query),
  list_licences: (db, who, { query }) => listLicences(db, who, query),
  put_licence_price: (db, who, { id, body }) => putPrice(db, who, id, body),
  delete_licence_price: (db, who, { id }) => deletePrice(db, who, id),
  list_separation_rules: (db, who, { query }) => duties.listSeparationRules(db, who, query),
  create_separation_rule: (db, who, { body }, parts) =>
    duties.createSeparationRule(db, who, body, parts),
  get_separation_rule: (db, who, { id }) => duties.getSeparationRule(db, who, id),
  put_separation_rule: (db, who, { id, body }, parts) =>
    duties.putSeparationRule(db, who, id, body, parts),
  delete_separation_rule: (db, who, { id }, parts) =>
    duties.deleteSeparationRule(db, who, id, parts),
  list_delegations: (db, who, { query }) => delegations.listDelegations(db, who, query),
  create_delegation: (db, who, { body }, parts) =>
    delegations.createDelegation(db, who, body, parts),
  end_delegation: (db, who, { id }, parts) => delegations.endDelegation(db, who, id, parts),
  list_pre_approval_rules: (db, who, { query }) => rules.listRules(db, who, query.app_id, query),
  create_pre_approval_rule: (db, who, { body }, parts) => rules.createRule(db, who, body, parts),
  get_pre_approval_rule: (db, who, { id }) => rules.getRule(db, who, id),
  update_pre_approval_rule: (db, who, { id, body }, parts) =>
    rules.updateRule(db, who, id, body, parts),
  delete_pre_approval_rule: (db, who, { id }) => rules.deleteRule(db, who, id),
  list_tasks: (db, who, { query }) => tasks.listTasks(db, who, query),
  get_task: (db, who, { id, query }) => tasks.getTask(db, who, id, query.expand),
  list_task_actions: (db, who, { id }) => listTaskActions(db, who, id),
  get_task_grounds: (db, who, { id }) => taskGrounds(db, who, id),
  perform_task_action: (db, who, { id, body }, parts) =>
    performTaskAction(db, who, id, body, parts),
  reassign_task: (db, who, { id, body }) => reassignTask(db, who, id, body),
  comment_on_task: (db, who, { id, body }) => commentOnTask(db, who, id, body),
  complete_task: (db, who, { id }, parts) => completeTask(db, who, id, parts),
  dismiss_task: (db, who, { id }, parts) => dismissTask(db, who, id, parts),
  list_scim_tokens: (db, who, { query }) => scim.listScimTokens(db, who, query),
  create_scim_token: (db, who, { body }, parts) => scim.createScimToken(db, who, body, parts),
  revoke_scim_token: (db, who, { id }) => scim.revokeScimToken(db, who, id),
  list_activity_logs: (db, who, { query }) => listActivity(db, who, query),
  get_log_chain: (db, who) => verifyNewest(db, who.domainId),
  get_art: async () => ART,
  get_info: async () => ({ name: 'Keyway', version: VERSION }),
}

/** Returns an id of the path other than the first. */
const second = (params: Record<string, string>, name: string): string => params[name] ?? ''
