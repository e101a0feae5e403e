/**
 * Keeps its thread busy with timers that are each short enough to answer a ping in between. Promise 1.
 * Must happen: the caller gets `request_timeout` at the deadline, and the storm ends with it.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    for (let timer = 0; timer < 900; timer += 1) {
      setInterval(() => {
        const endMs = Date.now() + 20
        while (Date.now() < endMs);
      }, 1)
    }
    return new Promise(() => {})
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
