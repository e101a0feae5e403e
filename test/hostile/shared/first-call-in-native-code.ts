/**
 * Computes for many seconds in native code with little memory, which no time limit ends, in its very first
 * calls. Promise 1.
 * Must happen: the worker is killed; the call of the other tenant is repeated in another worker.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: String(String(3n ** (2n ** 26n)).length) }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
