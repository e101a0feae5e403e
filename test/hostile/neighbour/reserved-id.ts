/**
 * Uses an id that is one of the host's own paths. Promise 3.
 * Must happen: the folder is a ghost.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: 'ESCAPED' }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
