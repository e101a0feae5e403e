/**
 * Answers at once and loops afterwards, when no call with a deadline is left. Promise 1.
 * Must happen: the answer or the deadline arrives; an isolate that does not respond is ended.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    void (async () => {
      for (let turn = 0; turn < 500; turn += 1) await null
      for (;;);
    })()
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
