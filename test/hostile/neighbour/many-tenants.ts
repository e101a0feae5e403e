/**
 * Is called for hundreds of tenants, each of which takes memory. Promise 1.
 * Must happen: isolates of idle tenants are evicted; the worker stays within its limit.
 */
import { defineConnector } from 'keyway/sdk'

const kept = new Array(500_000).fill(1)

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: String(kept.length) }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
