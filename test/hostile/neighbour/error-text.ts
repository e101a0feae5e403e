/**
 * Throws errors with everything that it has seen of any tenant, in several spellings. Promise 2.
 * Must happen: no data of other tenants appears, because no tenant shares an isolate with another.
 */
import { ConnectorError, defineConnector } from 'keyway/sdk'

const seen = new Set()

export default defineConnector({
  list_accounts(_request, ctx) {
    seen.add(ctx.auth.token.token).add(ctx.settings.base_url)
    const all = [...seen].join(' ')
    throw new ConnectorError('unauthenticated', `${all} ${btoa(all)} ${encodeURIComponent(all)}`)
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
