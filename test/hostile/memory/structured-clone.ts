/**
 * Clones a structure that grows with every clone. Promise 1.
 * Must happen: the limit or the deadline ends it.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    let value = { text: 'x'.repeat(1000) }
    for (;;) value = { a: structuredClone(value), b: structuredClone(value) }
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
