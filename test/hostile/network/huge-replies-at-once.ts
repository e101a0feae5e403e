/**
 * Reads sixty gigabyte answers at once, in many calls. Promise 1.
 * Must happen: open replies are limited per call, connector and process.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const sent = Array.from({ length: 60 }, () => ctx.fetch(`${ctx.settings.base_url}/huge`))
    const ended = await Promise.allSettled(sent)
    const well = ended.filter(({ status }) => status === 'fulfilled').length
    return well === 0 ? [] : [{ integration_specific_id: `ESCAPED ${well}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
