/**
 * Sets and clears timers without end, so that messages to the worker pile up. Promise 1.
 * Must happen: a flood within one turn is refused with a message.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    for (let count = 0; count < 10_000_000; count += 1) clearTimeout(setTimeout(() => {}, 1))
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
