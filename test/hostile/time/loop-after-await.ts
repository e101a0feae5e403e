/**
 * Loops after an `await`, where isolated-vm's own time limit no longer counts. Promise 1.
 * Must happen: the same as without the `await`.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts() {
    await Promise.resolve()
    for (;;);
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
