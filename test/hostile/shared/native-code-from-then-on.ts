/**
 * Answers quickly ten times, and then computes in native code that cannot be interrupted. Promise 1.
 * Must happen: its call gets a classified error; the call of the other tenant is repeated.
 */
import { defineConnector } from 'keyway/sdk'

let calls = 0

export default defineConnector({
  list_accounts() {
    calls += 1
    if (calls > 10) for (;;) [].indexOf.call({ length: 2 ** 53 - 1 }, 1)
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
