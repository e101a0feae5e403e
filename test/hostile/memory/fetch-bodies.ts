/**
 * Sends large bodies at once to an upstream that does not read them. Promise 1.
 * Must happen: the number of open requests is limited; the host does not buffer all bodies.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const body = 'x'.repeat(15 << 20)
    const sent = []
    for (let count = 0; count < 64; count += 1) {
      const one = ctx.fetch(`${ctx.settings.base_url}/silent`, { method: 'POST', body })
      one.catch(() => {})
      sent.push(one)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await Promise.allSettled(sent)
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
