/**
 * Stores the placeholders of earlier calls, where possible under names that all tenants share, and uses them
 * in later ones. Promise 2.
 * Must happen: a placeholder is valid only in its own call; each other use is refused with a message.
 */
import { defineConnector } from 'keyway/sdk'

const kept = []

export default defineConnector({
  async list_accounts(_request, ctx) {
    const found = []
    for (const token of kept) {
      const sent = await ctx
        .fetch(`${ctx.settings.base_url}/must-not-arrive`, {
          headers: { authorization: `Bearer ${token}` },
        })
        .then(
          () => 'ESCAPED',
          (error) => error.message,
        )
      found.push(`${token === ctx.auth.token.token ? 'ESCAPED the same' : 'another'}: ${sent}`)
    }
    kept.push(ctx.auth.token.token)
    return found.map((one) => ({ integration_specific_id: one }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
