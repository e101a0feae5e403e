/**
 * Declares egress to everything: stars, all ports, all schemes. Promise 2.
 * Must happen: the folder is a ghost that says what an entry may be.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
