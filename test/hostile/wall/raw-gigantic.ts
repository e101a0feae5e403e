/**
 * Returns 40 MiB of raw data with a small reply. Promise 1.
 * Must happen: refused for its size, or dropped because it was not requested.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts(_request, ctx) {
    ctx.raw(Array.from({ length: 40 }, () => 'x'.repeat(1 << 20)))
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
