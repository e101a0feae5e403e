/**
 * Opens fifty endless answers and reads none of them, in call after call. Promise 1.
 * Must happen: the host reads them at a limited rate, and other calls are as fast as before.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    for (let opened = 0; opened < 50; opened += 1)
      void ctx.fetch(`${ctx.settings.base_url}/huge`).catch(() => {})
    await new Promise(() => {})
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
