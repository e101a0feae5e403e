/**
 * Computes a power that takes minutes in native code, which cannot be interrupted. Promise 1.
 * Must happen: `request_timeout`; the worker that cannot end its thread is killed.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: String(3n ** (2n ** 26n) % 7n) }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
