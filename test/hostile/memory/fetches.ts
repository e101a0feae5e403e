/**
 * Starts fetches without end and awaits none. Promise 1.
 * Must happen: fetches over the limit are refused; the rest end with the call.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const all = []
    for (let count = 0; count < 100_000; count += 1) {
      const sent = ctx.fetch(`${ctx.settings.base_url}/silent`)
      sent.catch(() => {})
      all.push(sent)
    }
    await Promise.all(all)
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
