/**
 * Fills the log: thousands of long lines, by every way there is. Promise 1.
 * Must happen: lines and their length are bounded for each call, and it says that others were
 * dropped.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts(_request, ctx) {
    const line = 'x'.repeat(100_000)
    for (let count = 0; count < 5000; count += 1) {
      ctx.log.info(line, { [line]: line })
      console.log(line, { line })
      console.error(line)
    }
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
