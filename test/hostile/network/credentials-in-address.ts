/**
 * Puts user info into addresses of its own upstream. Promise 2.
 * Must happen: refused by policy; nothing of it is sent.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const found = []
    for (const user of ['user:pass@', 'user@', ':pass@', '@', '127.0.0.1%2f@', 'a@b@']) {
      const address = `${ctx.settings.base_url}/must-not-arrive`.replace('//', `//${user}`)
      try {
        if (user !== '@') {
          await ctx.fetch(address)
          found.push(`ESCAPED ${address}`)
        }
      } catch {}
    }
    return found.map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
