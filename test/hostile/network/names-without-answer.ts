/**
 * Requests hundreds of names whose name server never answers. Promise 1.
 * Must happen: its own requests wait and end at the deadline; names of other connectors are still looked up.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const sent = Array.from({ length: 60 }, (_, index) =>
      ctx.fetch(`${ctx.settings.base_url}/${index}`),
    )
    await Promise.allSettled(sent)
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
