/**
 * Fills arrays until there is no memory. Promise 1.
 * Must happen: the isolate's limit ends it, or its worker's bound; the caller hears that memory ran
 * out.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const all = []
    for (;;) all.push(new Array(100_000).fill(all.length))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
