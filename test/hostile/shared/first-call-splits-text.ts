/**
 * Aborts the worker process in its very first call. Promise 1.
 * Must happen: the call gets a classified error; the call of the other tenant is repeated.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return 'x'.repeat(2 ** 28).split('')
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
