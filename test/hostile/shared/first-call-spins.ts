/**
 * Loops in its very first call, before the host knows anything about it. Promise 1.
 * Must happen: its call ends at its deadline; the other tenant of its worker is still answered.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    for (;;);
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
