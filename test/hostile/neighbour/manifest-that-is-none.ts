/**
 * Has a manifest of NUL bytes instead of JSON. Promise 1.
 * Must happen: the folder is a ghost.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
