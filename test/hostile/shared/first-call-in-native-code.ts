/**
 * Computes for minutes in native code, which no time limit ends, in its very first calls. Promise 1.
 * Must happen: the worker is killed; what the other tenant had asked for is asked again, in another worker.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: String(3n ** (2n ** 26n) % 7n) }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
