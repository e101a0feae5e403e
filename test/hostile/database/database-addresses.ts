/**
 * Connects to loopback and metadata addresses as databases, in all spellings, without a grant. Promise 2.
 * Must happen: refused; the canary sees nothing.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    await ctx.sql.query('fine')
    return [{ integration_specific_id: 'ESCAPED' }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
