/**
 * Declares egress to everything: wildcards, all ports, all schemes. Promise 2.
 * Must happen: the folder is a ghost, with a message that says what an entry may be.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
