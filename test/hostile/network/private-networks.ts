/**
 * Requests private, shared and link-local networks and metadata services. Promise 2.
 * Must happen: `permission_denied` for each, without a connection.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const reply = await ctx.fetch(ctx.settings.base_url)
    return [{ integration_specific_id: `ESCAPED ${reply.status}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
