/**
 * Follows the pages of a directory that always has another page. Promise 1.
 * Must happen: the call ends at its deadline, or at its maximum number of requests; a neighbour's call is not
 * delayed.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    let cursor: string | null = null
    do {
      const page: { size: number; cursor: string | null } = { size: 1, cursor }
      cursor = (await ctx.ldap.search({ base: 'cn=pages,dc=acme', page })).cursor
    } while (cursor !== null)
    return [{ integration_specific_id: 'ESCAPED' }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
