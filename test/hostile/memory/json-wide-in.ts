/**
 * Reads an upstream's answer of 12 MB with four million objects. Promise 1.
 * Must happen: the isolate's limit ends it, or it answers.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    await (await ctx.fetch(`${ctx.settings.base_url}/wide`)).json()
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
