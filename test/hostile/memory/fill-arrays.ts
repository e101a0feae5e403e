/**
 * Fills arrays until memory runs out. Promise 1.
 * Must happen: the limit of the isolate or of its worker ends it; the error says that memory ran out.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const all = []
    for (;;) all.push(new Array(100_000).fill(all.length))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
