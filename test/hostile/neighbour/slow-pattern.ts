/**
 * Declares a pattern for a setting that would take forever to match, in the host. Promise 1.
 * Must happen: patterns run on an engine without backtracking; a call is answered at once.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
