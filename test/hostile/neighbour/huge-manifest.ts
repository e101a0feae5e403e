/**
 * Has a manifest of a megabyte. Promise 1.
 * Must happen: the folder is a ghost, with a message that names the size limit.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
