/**
 * Asks for names that resolve to private addresses, to some, to none, to a thousand. Promise 2.
 * Must happen: one private address refuses the name; what is unreachable is said to be so.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const reply = await ctx.fetch(ctx.settings.base_url)
    return [{ integration_specific_id: `ESCAPED ${reply.status}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
