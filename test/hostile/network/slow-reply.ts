/**
 * Reads an upstream's answer that arrives one byte at a time, forever. Promise 1.
 * Must happen: `request_timeout` at the deadline, and the connection is closed.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    await (await ctx.fetch(`${ctx.settings.base_url}/drip`)).text()
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
