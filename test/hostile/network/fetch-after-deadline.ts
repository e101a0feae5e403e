/**
 * Fetches in a timer that fires after its deadline. Promise 2.
 * Must happen: no request leaves for a call that has ended.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts(_request, ctx) {
    const late = () => ctx.fetch(`${ctx.settings.base_url}/must-not-arrive`).catch(() => {})
    for (let ms = 560; ms < 1500; ms += 50) setTimeout(late, ms)
    ctx.signal.addEventListener('abort', late)
    return new Promise(() => {})
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
