/**
 * Requests names that resolve only to private addresses, to some, to none, to a thousand. Promise 2.
 * Must happen: a single private address makes the name refused; an unreachable name is reported as
 * unreachable.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const reply = await ctx.fetch(ctx.settings.base_url)
    return [{ integration_specific_id: `ESCAPED ${reply.status}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
