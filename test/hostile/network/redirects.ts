/**
 * Follows redirects of its upstream to the canary, to metadata, to files, to user info. Promise 2.
 * Must happen: each hop is checked like a first request; the canary sees nothing.
 */
import { defineConnector } from 'keyway/sdk'

const PATHS = [
  'to-canary',
  'to-canary-307',
  'to-metadata',
  'to-file',
  'to-user-info',
  'to-mapped',
  'in-circles',
]

export default defineConnector({
  async list_accounts(_request, ctx) {
    const found = []
    for (const path of PATHS) {
      for (const method of ['GET', 'HEAD']) {
        try {
          await ctx.fetch(`${ctx.settings.base_url}/${path}`, { method })
          found.push(`ESCAPED ${path}`)
        } catch {}
      }
    }
    return found.map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
