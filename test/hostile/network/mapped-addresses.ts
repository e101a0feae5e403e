/**
 * Requests IPv6 addresses that contain a private IPv4 address. Promise 2.
 * Must happen: `permission_denied` for each; the contained address is checked.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const reply = await ctx.fetch(ctx.settings.base_url)
    return [{ integration_specific_id: `ESCAPED ${reply.status}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
