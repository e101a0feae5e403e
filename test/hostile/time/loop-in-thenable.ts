/**
 * Answers with a `then` that loops. Promise 1.
 * Must happen: it is called on the isolate's own thread: `request_timeout`.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return {
      then() {
        for (;;);
      },
    }
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
