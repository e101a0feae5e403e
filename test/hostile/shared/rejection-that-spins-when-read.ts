/**
 * Leaves a rejection unhandled whose message is a getter that never returns: the sandbox reads it after the
 * connector's own code has ended. Promise 1.
 * Must happen: the call gets a classified error; the other tenant of its worker is answered, if
 * necessary by another worker.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    void Promise.reject({
      get message() {
        for (;;);
      },
    })
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
