/**
 * Reads an upstream's answer that decompresses to a thousand times its size. Promise 1.
 * Must happen: decompression stops: `invalid_response`.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const reply = await ctx.fetch(`${ctx.settings.base_url}/bomb`)
    return [{ integration_specific_id: `ESCAPED ${(await reply.text()).length}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
