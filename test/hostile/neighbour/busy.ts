/**
 * Uses all of its time for computing, in many calls of many tenants. Promise 1.
 * Must happen: processor time is shared; the neighbour's calls are at most slower.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts() {
    const endMs = Date.now() + 300
    while (Date.now() < endMs);
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
