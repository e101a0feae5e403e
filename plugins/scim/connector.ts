/** SCIM 2.0 services: maps each capability to its function. */
import { defineConnector } from 'keyway/sdk'
import { getAccount, listAccounts, setActive } from './accounts.ts'
import type { Connector } from './connector.types.ts'
import {
  assignEntitlement,
  findAssociations,
  getAccountAssociations,
  listEntitlements,
  unassignEntitlement,
} from './groups.ts'
import { createAccount, deleteAccount, updateAccount } from './provisioning.ts'
import { listCustomAttributes } from './schemas.ts'
import { validateCredentials } from './validate.ts'

export default defineConnector<Connector>({
  validate_credentials: (_request, ctx) => validateCredentials(ctx),
  list_custom_attributes_schema: (_request, ctx) => listCustomAttributes(ctx),
  list_accounts: listAccounts,
  get_account: getAccount,
  // SCIM has no resources. Every group belongs to the global one, which is never listed.
  list_resources: () => [],
  list_entitlements: listEntitlements,
  find_entitlement_associations: (_request, ctx) => findAssociations(ctx),
  get_account_entitlement_associations: getAccountAssociations,
  create_account: createAccount,
  update_account: updateAccount,
  async activate_account(request, ctx) {
    await setActive(ctx, request.account_id, true)
    return { status: 'ACTIVE', activated: true }
  },
  async deactivate_account(request, ctx) {
    await setActive(ctx, request.account_id, false)
    return { status: 'SUSPENDED', deactivated: true }
  },
  delete_account: deleteAccount,
  assign_entitlement: assignEntitlement,
  unassign_entitlement: unassignEntitlement,
})
