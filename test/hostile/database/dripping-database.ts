/**
 * Queries a database that answers one byte at a time. Promise 1.
 * Must happen: the call ends at its deadline, and its connection with it.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    await ctx.sql.query('dripping')
    return [{ integration_specific_id: 'ESCAPED' }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
