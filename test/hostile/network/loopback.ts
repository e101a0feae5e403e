/**
 * Requests loopback in every spelling, one per call; its manifest declares each. Promise 2.
 * Must happen: a declaration is not a grant: `permission_denied`, and the canary sees nothing.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const reply = await ctx.fetch(ctx.settings.base_url)
    return [{ integration_specific_id: `ESCAPED ${reply.status}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
