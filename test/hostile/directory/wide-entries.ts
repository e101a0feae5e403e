/**
 * Requests an entry with more values than a reply may have. Promise 1.
 * Must happen: reading stops there: `invalid_response`.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const { entries } = await ctx.ldap.search({ base: 'cn=values,dc=acme' })
    return [{ integration_specific_id: `ESCAPED ${entries.length}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
