/**
 * Implements the OAuth refresh itself and has an upstream echo it: replies of authorization servers contain
 * secrets and enter the sandbox unchanged. Promise 2.
 * Must happen: it is not served before the operator has granted the secrets that it would see.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts: () => [],
  get_account: () => ({ integration_specific_id: 'fine' }),
  async refresh_access_token({ client_secret, refresh_token }, ctx) {
    const body = new URLSearchParams({ client_secret, refresh_token })
    const reply = await ctx.fetch(`${ctx.settings.base_url}/mirror`, { method: 'POST', body })
    const echo = await reply.text()
    ctx.log.info([...echo].join(' '))
    return { access_token: btoa(echo), token_type: 'bearer' }
  },
})
