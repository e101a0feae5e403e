/**
 * Reads an upstream's answer of a gigabyte. Promise 1.
 * Must happen: reading stops at 16 MiB: `invalid_response`; the host does not buffer more.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const reply = await ctx.fetch(`${ctx.settings.base_url}/huge`)
    return [{ integration_specific_id: `ESCAPED ${(await reply.text()).length}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
