/**
 * Answers with a promise that never settles. Promise 1.
 * Must happen: `request_timeout` at the deadline, and nothing is left of it.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return new Promise(() => {})
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
