/** PostgreSQL: maps each capability to its function. */
import { defineConnector } from 'keyway/sdk'
import { getAccount, listAccounts } from './accounts.ts'
import { getLastActivity } from './activity.ts'
import { withRetries } from './conflicts.ts'
import type { Connector } from './connector.types.ts'
import {
  assignEntitlement,
  findAssociations,
  getAccountAssociations,
  unassignEntitlement,
} from './memberships.ts'
import { createAccount, deleteAccount, updateAccount } from './provisioning.ts'
import { listEntitlements } from './roles.ts'
import { switchOff, switchOn } from './switching.ts'
import { validateCredentials } from './validate.ts'

export default defineConnector<Connector>({
  validate_credentials: (_request, ctx) => validateCredentials(ctx),
  list_accounts: (_request, ctx) => listAccounts(ctx),
  get_account: getAccount,
  list_entitlements: (_request, ctx) => listEntitlements(ctx),
  find_entitlement_associations: (_request, ctx) => findAssociations(ctx),
  get_account_entitlement_associations: getAccountAssociations,
  get_last_activity: getLastActivity,
  create_account: withRetries(createAccount),
  update_account: withRetries(updateAccount),
  activate_account: withRetries(async (request, ctx) => {
    await switchOn(ctx, request.account_id)
    return { status: 'ACTIVE', activated: true }
  }),
  deactivate_account: withRetries(async (request, ctx) => {
    await switchOff(ctx, request.account_id)
    return { status: 'SUSPENDED', deactivated: true }
  }),
  delete_account: withRetries(deleteAccount),
  assign_entitlement: withRetries(assignEntitlement),
  unassign_entitlement: withRetries(unassignEntitlement),
})
