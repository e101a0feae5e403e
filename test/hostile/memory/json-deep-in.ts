/**
 * Reads an upstream's answer that consists of five million brackets. Promise 1.
 * Must happen: parsing fails in the isolate, or its limit ends it.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    await (await ctx.fetch(`${ctx.settings.base_url}/nested`)).json()
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
