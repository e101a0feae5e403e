/**
 * Requests a name that resolves to a public address first, and to loopback afterwards. Promise 2.
 * Must happen: the checked address is the one that is connected to; the canary sees nothing.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const codes = []
    for (let turn = 0; turn < 4; turn += 1) {
      const ended = await Promise.race([
        ctx.fetch(ctx.settings.base_url).then(
          () => 'ESCAPED',
          (error) => error.error_code,
        ),
        new Promise((resolve) => setTimeout(resolve, 150, 'waits')),
      ])
      codes.push({ integration_specific_id: String(ended) })
    }
    return codes
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
