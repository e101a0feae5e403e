/**
 * Starts searches that are never answered, for many tenants, and ends its call without awaiting them. Promise
 * 1.
 * Must happen: connections end with the call that opened them; a neighbour's fetch is not delayed.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    for (let index = 0; index < 20; index += 1)
      ctx.ldap.search({ base: 'cn=silent,dc=acme' }).catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, 200))
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
