/**
 * Leaks a little in each call: 100 kB, over thousands of calls. Promise 1.
 * Must happen: its calls succeed until its own isolate is full, and again afterwards; the host does not grow.
 */
import { defineConnector } from 'keyway/sdk'

const kept = []

export default defineConnector({
  list_accounts() {
    kept.push(new Array(12_500).fill(kept.length))
    return [{ integration_specific_id: String(kept.length) }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
