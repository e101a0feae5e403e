/**
 * Waits for its own abort at the deadline, and then loops. Promise 1.
 * Must happen: the caller has its answer already; the isolate is ended.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts(_request, ctx) {
    ctx.signal.addEventListener('abort', () => {
      for (;;);
    })
    return new Promise(() => {})
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
