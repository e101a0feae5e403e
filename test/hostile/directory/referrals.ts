/**
 * Queries a directory that refers to the address of another one. Promise 2.
 * Must happen: the other address is reported and never contacted; the canary sees nothing.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    // The directory itself is reached.
    await ctx.ldap.search()
    for (const scope of ['base', 'one', 'sub'] as const) {
      try {
        await ctx.ldap.search({ base: 'cn=elsewhere,dc=acme', scope })
        return [{ integration_specific_id: 'ESCAPED' }]
      } catch {}
    }
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
