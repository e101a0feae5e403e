/**
 * Holds every connection that it can get, in many calls of many tenants. Promise 1.
 * Must happen: requests over the connector's limit are refused at once, and calls without another open
 * request end; the others end at their deadline. A neighbour's request to the same upstream is answered.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    await Promise.allSettled(
      Array.from({ length: 64 }, () => ctx.fetch(`${ctx.settings.base_url}/silent`)),
    )
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
