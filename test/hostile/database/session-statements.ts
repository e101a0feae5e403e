/**
 * Declares statements that change the session, or end the read-only transaction. Promise 2.
 * Must happen: the manifest is refused, and the connector is not served.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    await ctx.sql.query('end')
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
