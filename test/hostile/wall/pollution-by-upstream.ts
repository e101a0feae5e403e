/**
 * Passes on an upstream's data that pollutes code that merges it. Promise 1.
 * Must happen: it arrives as data or is refused; the host's built-ins are unchanged.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const extra_data = await (await ctx.fetch(`${ctx.settings.base_url}/polluting`)).json()
    ctx.raw(extra_data)
    return [{ integration_specific_id: 'a', extra_data }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
