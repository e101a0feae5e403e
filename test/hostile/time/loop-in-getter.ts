/**
 * Answers with an object whose member loops when it is read. Promise 1.
 * Must happen: the reply is read on the isolate's own thread: `request_timeout`.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return [
      {
        get integration_specific_id() {
          for (;;);
        },
      },
    ]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
