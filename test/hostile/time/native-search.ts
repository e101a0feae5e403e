/**
 * Searches an array-like of nine quadrillion members in native code. Promise 1.
 * Must happen: `request_timeout`; the worker that cannot end its thread is killed.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return [].indexOf.call({ length: 2 ** 53 - 1 }, 1)
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
