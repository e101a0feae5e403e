/**
 * Reads answers that are not valid HTTP: endless headers, garbage, two lengths, odd status codes. Promise 1.
 * Must happen: each ends with a classified error; no connection and no answer is mixed up with another.
 */
import { defineConnector } from 'keyway/sdk'

const PATHS = [
  'headers',
  'garbage',
  'short',
  'two-lengths',
  'interim',
  'upgrade',
  'status',
  'chunk',
]

export default defineConnector({
  async list_accounts(_request, ctx) {
    const found = []
    for (const path of PATHS) {
      const ended = await Promise.race([
        ctx.fetch(`${ctx.settings.base_url}/${path}`).then(
          async (reply) => `ESCAPED ${path} ${reply.status} ${(await reply.text()).slice(0, 80)}`,
          (error) => String(error.error_code),
        ),
        new Promise((resolve) => setTimeout(resolve, 400, 'waits')),
      ])
      found.push(`${path} ${ended}`)
    }
    return found.map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
