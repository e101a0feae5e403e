/**
 * Takes all memory in its very first call, before the host knows anything about it. Promise 1.
 * Must happen: its isolate ends; the other tenant of its worker is still answered.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const all = []
    for (;;) all.push(new Array(100_000).fill(all.length))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
