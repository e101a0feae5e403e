/**
 * Waits for millions of promises that never settle. Promise 1.
 * Must happen: the limit or the deadline ends it.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const all = []
    for (let count = 0; count < 5_000_000; count += 1)
      all.push(new Promise(() => {}).then(() => count))
    return Promise.all(all)
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
