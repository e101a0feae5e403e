/**
 * Allocates memory outside the heap with typed arrays, and touches it so that it is really used. Promise 1.
 * Must happen: the isolate's limit counts them too.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const all = []
    for (;;) all.push(new Uint8Array(64 << 20).fill(1))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
