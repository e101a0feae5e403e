/** Google Workspace: maps each capability to its function. */
import { defineConnector } from 'keyway/sdk'
import { getAccount, listAccounts, listCustomAttributes, setSuspended } from './accounts.ts'
import { getLastActivity, listActivity } from './activity.ts'
import { findAssociations, getAccountAssociations } from './associations.ts'
import type { Connector } from './connector.types.ts'
import { listEntitlements, listResources } from './entitlements.ts'
import { assignEntitlement, unassignEntitlement } from './grants.ts'
import { downgradeLicense } from './licenses.ts'
import { createAccount, deleteAccount, transferData, updateAccount } from './provisioning.ts'
import { validateCredentials } from './validate.ts'

export default defineConnector<Connector>({
  validate_credentials: (_request, ctx) => validateCredentials(ctx),
  list_custom_attributes_schema: (_request, ctx) => listCustomAttributes(ctx),
  list_accounts: listAccounts,
  get_account: getAccount,
  list_resources: (_request, ctx) => listResources(ctx),
  list_entitlements: (_request, ctx) => listEntitlements(ctx),
  find_entitlement_associations: (_request, ctx) => findAssociations(ctx),
  get_account_entitlement_associations: getAccountAssociations,
  get_last_activity: getLastActivity,
  list_activity_records: (_request, ctx) => listActivity(ctx),
  create_account: createAccount,
  update_account: updateAccount,
  async activate_account(request, ctx) {
    const status = await setSuspended(ctx, request.account_id, false)
    return { status, activated: status === 'ACTIVE' }
  },
  async deactivate_account(request, ctx) {
    const status = await setSuspended(ctx, request.account_id, true)
    return { status, deactivated: true }
  },
  delete_account: deleteAccount,
  assign_entitlement: assignEntitlement,
  unassign_entitlement: unassignEntitlement,
  transfer_data: transferData,
  downgrade_license: downgradeLicense,
})
