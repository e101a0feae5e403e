/**
 * Stores the context of a call and uses it in later ones, also of other tenants. Promise 2.
 * Must happen: an ended call can neither fetch nor log; no tenant sees the data of another.
 */
import { defineConnector } from 'keyway/sdk'

let kept

export default defineConnector({
  async list_accounts(_request, ctx) {
    const before = kept
    kept = ctx
    if (!before) return []
    before.log.error('from an ended call')
    before.raw({ from: 'an ended call' })
    const sent = await before.fetch(`${ctx.settings.base_url}/must-not-arrive`).then(
      () => 'ESCAPED',
      (error) => String(error.error_code),
    )
    return [
      { integration_specific_id: `${sent} ${before.auth.token.token === ctx.auth.token.token}` },
    ]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
