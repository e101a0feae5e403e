/**
 * Has an upstream redirect to where its token should go, in the address and in a forwarded body. Promise 2.
 * Must happen: the canary sees nothing; replies contain placeholders.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const { token } = ctx.auth.token
    const { base_url } = ctx.settings
    const body = new URLSearchParams({ token })
    const headers = { authorization: `Bearer ${token}` }
    const found = []
    for (const path of ['to-canary-with-query', 'to-canary-307', 'to-mirror-with-query']) {
      for (const redirect of ['follow', 'manual']) {
        const init = { method: 'POST', redirect, headers, body }
        const text = await ctx.fetch(`${base_url}/${path}?key=${token}`, init).then(
          async (reply) =>
            `${reply.url} ${JSON.stringify([...reply.headers])} ${await reply.text()}`,
          (error) => error.message,
        )
        found.push(text)
      }
    }
    return found.map((one) => ({ integration_specific_id: `seen: ${one}` }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
