/**
 * Answers at once and loops afterwards, when no call is left to have a deadline. Promise 1.
 * Must happen: the answer arrives, or its deadline does; an isolate that shows no sign of life is ended.
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
