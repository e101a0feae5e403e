/** Okta: maps each capability to its function. */
import { defineConnector } from 'keyway/sdk'
import { getAccount, getLastActivity, listAccounts } from './accounts.ts'
import { listActivity, listApplicationsActivity } from './activity.ts'
import {
  assignApplicationEntitlement,
  listApplicationsAssociations,
  listApplicationsEntitlements,
  listApplicationsResources,
  unassignApplicationEntitlement,
} from './app-entitlements.ts'
import {
  assignApplication,
  getApplication,
  getApplicationAccount,
  listApplications,
  listApplicationsAccounts,
  unassignApplication,
} from './applications.ts'
import type { Connector } from './connector.types.ts'
import {
  assignEntitlement,
  findAssociations,
  getAccountAssociations,
  listEntitlements,
  listResources,
  unassignEntitlement,
} from './entitlements.ts'
import { activateAccount, deactivateAccount, deleteAccount } from './lifecycle.ts'
import { createAccount, updateAccount } from './provisioning.ts'
import { listCustomAttributes } from './schemas.ts'
import { validateCredentials } from './validate.ts'

export default defineConnector<Connector>({
  validate_credentials: (_request, ctx) => validateCredentials(ctx),
  list_custom_attributes_schema: (_request, ctx) => listCustomAttributes(ctx),
  list_accounts: listAccounts,
  get_account: getAccount,
  get_last_activity: getLastActivity,
  list_activity_records: (_request, ctx) => listActivity(ctx),
  list_resources: (_request, ctx) => listResources(ctx),
  list_entitlements: listEntitlements,
  find_entitlement_associations: (_request, ctx) => findAssociations(ctx),
  get_account_entitlement_associations: getAccountAssociations,
  create_account: createAccount,
  update_account: updateAccount,
  activate_account: activateAccount,
  deactivate_account: deactivateAccount,
  delete_account: deleteAccount,
  assign_entitlement: assignEntitlement,
  unassign_entitlement: unassignEntitlement,
  list_applications: (_request, ctx) => listApplications(ctx),
  get_application: getApplication,
  list_applications_accounts: (_request, ctx) => listApplicationsAccounts(ctx),
  get_application_account: getApplicationAccount,
  list_applications_resources: (_request, ctx) => listApplicationsResources(ctx),
  list_applications_entitlements: (_request, ctx) => listApplicationsEntitlements(ctx),
  list_applications_entitlement_associations: (_request, ctx) => listApplicationsAssociations(ctx),
  list_applications_activity_records: (_request, ctx) => listApplicationsActivity(ctx),
  assign_application: assignApplication,
  unassign_application: unassignApplication,
  assign_application_entitlement: assignApplicationEntitlement,
  unassign_application_entitlement: unassignApplicationEntitlement,
})
