/**
 * Declares statements that change the session, or end the transaction that only reads. Promise 2. Must happen: the
 * manifest is refused, and nothing of the connector is served.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    await ctx.sql.query('end')
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
