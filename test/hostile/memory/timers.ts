/**
 * Sets timers without end. Promise 1.
 * Must happen: more than the limit are refused with a message.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    for (let count = 0; count < 1_000_000; count += 1) setTimeout(() => {}, 60_000)
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
