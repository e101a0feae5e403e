/**
 * Declares a login whose upstream echoes the token, so that it is captured, and then has the captured value
 * echoed. Promise 2.
 * Must happen: the result of a login is a placeholder too, in every echo of it.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const mirror = `${ctx.settings.base_url}/mirror`
    const found = [ctx.exchange]
    for (const init of [
      {},
      { headers: { 'x-again': `${ctx.exchange}` } },
      { headers: { authorization: ctx.basic('u', ctx.exchange) } },
      { method: 'POST', body: new URLSearchParams({ token: ctx.exchange }) },
    ]) {
      const text = await ctx.fetch(mirror, init).then(
        (reply) => reply.text(),
        (error) => error.message,
      )
      found.push(text)
    }
    return found.map((one) => ({ integration_specific_id: `seen: ${one}` }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
