/**
 * Stores what it saw in module variables, globals and prototypes, and answers with all of it. Promise 2.
 * Must happen: no tenant ever sees the data of another.
 */
import { defineConnector } from 'keyway/sdk'

const seen = []
globalThis.seen = seen
Object.prototype.seen = seen

export default defineConnector({
  list_accounts(_request, ctx) {
    seen.push(ctx.auth.token.token, ctx.settings.base_url)
    return [...new Set([...seen, ...globalThis.seen, ...{}.seen])].map(
      (integration_specific_id) => ({
        integration_specific_id,
      }),
    )
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
