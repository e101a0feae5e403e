/**
 * Adds event listeners and microtasks without end. Promise 1.
 * Must happen: the limit or the deadline ends it.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts(_request, ctx) {
    for (let count = 0; ; count += 1) {
      ctx.signal.addEventListener('abort', () => count)
      queueMicrotask(() => count)
    }
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
