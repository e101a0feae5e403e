/**
 * Its callers' token has the maximum size and all characters that need escaping, and is echoed whole in every
 * form. Promise 2.
 * Must happen: the echo contains placeholders, and the log quotes no part of the token.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const { token } = ctx.auth.token
    const mirror = `${ctx.settings.base_url}/mirror`
    const found = []
    for (const init of [
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token, two: [token] }),
      },
      { method: 'POST', body: new URLSearchParams({ token }) },
    ]) {
      const text = await (await ctx.fetch(mirror, init)).text()
      found.push(text.split(token).length - 1, text.length)
    }
    return [{ integration_specific_id: `seen: ${found}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
