/**
 * Declares capabilities that its code does not have, and has others that it does not declare. Promise 3.
 * Must happen: code and manifest must be equal; the folder is a ghost, with a message that names the
 * difference.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
