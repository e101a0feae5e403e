/**
 * Starts three hundred searches at once in each of several calls. Promise 1.
 * Must happen: more connections than a tenant may have are refused with a message; a neighbour's fetch is not
 * delayed.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const sent = Array.from({ length: 300 }, () => ctx.ldap.search({ base: 'cn=x,dc=acme' }))
    const ended = await Promise.allSettled(sent)
    const done = ended.filter(({ status }) => status === 'fulfilled')
    return [{ integration_specific_id: String(done.length) }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
