/**
 * Loops in a timer while the call waits. Promise 1.
 * Must happen: the caller gets `request_timeout`, the isolate ends, its worker lives.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    setTimeout(() => {
      for (;;);
    }, 1)
    return new Promise(() => {})
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
