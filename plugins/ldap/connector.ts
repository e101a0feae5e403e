/** LDAP directories: maps each capability to its function. */
import { defineConnector } from 'keyway/sdk'
import { getAccount, listAccounts, listCustomAttributes, setEnabled } from './accounts.ts'
import { getLastActivity } from './activity.ts'
import { findAssociations, getAccountAssociations } from './associations.ts'
import type { Connector } from './connector.types.ts'
import { assignEntitlement, unassignEntitlement } from './grants.ts'
import { listEntitlements } from './groups.ts'
import { createAccount, deleteAccount, updateAccount } from './provisioning.ts'
import { validateCredentials } from './validate.ts'

export default defineConnector<Connector>({
  validate_credentials: (_request, ctx) => validateCredentials(ctx),
  list_custom_attributes_schema: listCustomAttributes,
  list_accounts: listAccounts,
  get_account: getAccount,
  list_entitlements: (_request, ctx) => listEntitlements(ctx),
  find_entitlement_associations: (_request, ctx) => findAssociations(ctx),
  get_account_entitlement_associations: getAccountAssociations,
  get_last_activity: getLastActivity,
  create_account: createAccount,
  update_account: updateAccount,
  async activate_account(request, ctx) {
    await setEnabled(ctx, request.account_id, true)
    return { status: 'ACTIVE', activated: true }
  },
  async deactivate_account(request, ctx) {
    await setEnabled(ctx, request.account_id, false)
    return { status: 'SUSPENDED', deactivated: true }
  },
  delete_account: deleteAccount,
  assign_entitlement: assignEntitlement,
  unassign_entitlement: unassignEntitlement,
})
