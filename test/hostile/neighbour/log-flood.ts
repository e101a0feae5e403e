/**
 * Floods the log with thousands of long lines, in every possible way. Promise 1.
 * Must happen: the number and the length of lines are limited per call, and the log reports that others were
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
