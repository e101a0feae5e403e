/**
 * Loops in its handler. Promise 1.
 * Must happen: the caller gets `request_timeout`, the isolate ends, its worker lives.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    for (;;);
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
