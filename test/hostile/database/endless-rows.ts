/**
 * Queries a database that sends rows without end. Promise 1.
 * Must happen: reading stops once there are more rows than were requested: `invalid_response`; the host does
 * not buffer more.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const { rows } = await ctx.sql.query('endless')
    return [{ integration_specific_id: `ESCAPED ${rows.length}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
