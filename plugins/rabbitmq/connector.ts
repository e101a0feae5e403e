/** RabbitMQ: maps each capability to its function. */
import { defineConnector } from 'keyway/sdk'
import { getAccount, listAccounts } from './accounts.ts'
import { findAssociations, getAccountAssociations } from './associations.ts'
import type { Connector } from './connector.types.ts'
import { listEntitlements, listResources } from './entitlements.ts'
import { assignEntitlement, unassignEntitlement } from './grants.ts'
import { createAccount, deleteAccount, updateAccount } from './provisioning.ts'
import { validateCredentials } from './validate.ts'

export default defineConnector<Connector>({
  validate_credentials: (_request, ctx) => validateCredentials(ctx),
  list_accounts: (_request, ctx) => listAccounts(ctx),
  get_account: getAccount,
  list_resources: (_request, ctx) => listResources(ctx),
  list_entitlements: (_request, ctx) => listEntitlements(ctx),
  find_entitlement_associations: (_request, ctx) => findAssociations(ctx),
  get_account_entitlement_associations: getAccountAssociations,
  create_account: createAccount,
  update_account: updateAccount,
  delete_account: deleteAccount,
  assign_entitlement: assignEntitlement,
  unassign_entitlement: unassignEntitlement,
})
