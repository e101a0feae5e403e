/**
 * Kills its worker process at every call. Promise 1.
 * Must happen: each call gets a classified error; its worker is restarted after growing pauses; no other call
 * fails.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return 'x'.repeat(2 ** 28).split('')
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
