/**
 * Requests one page of a directory that sends entries without end. Promise 1.
 * Must happen: reading stops once there are more entries than were requested: `invalid_response`; the host
 * does not buffer more.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const { entries } = await ctx.ldap.search({ base: 'cn=endless,dc=acme' })
    return [{ integration_specific_id: `ESCAPED ${entries.length}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
