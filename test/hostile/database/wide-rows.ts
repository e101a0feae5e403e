/**
 * Requests more values than a reply may have. Promise 1.
 * Must happen: reading stops there: `invalid_response`.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const { rows } = await ctx.sql.query('wide')
    return [{ integration_specific_id: `ESCAPED ${rows.length}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
