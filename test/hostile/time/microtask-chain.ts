/**
 * Never yields the thread: each microtask queues the next. Promise 1.
 * Must happen: `request_timeout`, or the memory limit ends it earlier.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const again = () => Promise.resolve().then(again)
    return again()
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
