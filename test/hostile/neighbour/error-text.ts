/**
 * Throws errors with the tokens of everybody that it has seen, in several spellings. Promise 2.
 * Must happen: no token in any answer: its own is redacted, others' it never has.
 */
import { ConnectorError, defineConnector } from 'keyway/sdk'

const seen = new Set()

export default defineConnector({
  list_accounts(_request, ctx) {
    seen.add(ctx.auth.token.token)
    const all = [...seen].join(' ')
    throw new ConnectorError('unauthenticated', `${all} ${btoa(all)} ${encodeURIComponent(all)}`)
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
