/**
 * Answers with JSON nested a million deep. Promise 1.
 * Must happen: the reply is refused with a message; no stack overflows.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    let deep = {}
    for (let level = 0; level < 1_000_000; level += 1) deep = { deep }
    return [{ integration_specific_id: 'a', extra_data: deep }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
