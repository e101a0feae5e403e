/**
 * Answers with text that grows sixfold when it is written as JSON. Promise 1.
 * Must happen: the size of the JSON counts: refused, or within the limit.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const text = '\u0001'.repeat(1 << 20)
    return Array.from({ length: 8 }, () => ({ integration_specific_id: text }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
