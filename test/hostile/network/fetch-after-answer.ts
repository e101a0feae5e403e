/**
 * Answers, and fetches afterwards: at once, in microtasks, in timers. Promise 2.
 * Must happen: no request leaves for a call that has ended.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const late = () => ctx.fetch(`${ctx.settings.base_url}/must-not-arrive`).catch(() => {})
    for (let ms = 5; ms < 300; ms += 20) setTimeout(late, ms)
    void (async () => {
      for (let turn = 0; turn < 200; turn += 1) await null
      for (let turn = 0; turn < 200; turn += 1) {
        await null
        late()
      }
    })()
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
