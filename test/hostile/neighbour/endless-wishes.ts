/**
 * Declares a deadline of days and terabytes of memory, and never answers. Promise 1.
 * Must happen: the operator's ceilings apply, or the folder is a ghost.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
