/**
 * Sends bodies with five thousand placeholders of a token of the maximum size, each of which would expand to
 * hundreds of megabytes: forms, JSON and headers, several at once. Promise 1.
 * Must happen: each is refused with a message before it is expanded, and the host does not grow.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const { token } = ctx.auth.token
    const mirror = `${ctx.settings.base_url}/must-not-arrive`
    const many = Array(5000).fill(token)
    const json = { 'content-type': 'application/json' }
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const sent = [
      { method: 'POST', headers: json, body: JSON.stringify(many) },
      { method: 'POST', headers: form, body: many.map((one) => `a=${one}`).join('&') },
      { headers: { 'x-many': many.slice(0, 600).join(' ') } },
    ]
    const tries = [...sent, ...sent, ...sent].map(async (init) => {
      try {
        await ctx.fetch(mirror, init)
        return 'ESCAPED'
      } catch (error) {
        return String(error.message)
      }
    })
    const told = await Promise.all(tries)
    return told.map((one) => ({ integration_specific_id: one.slice(0, 200) }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
