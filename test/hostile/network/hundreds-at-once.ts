/**
 * Starts three hundred fetches at once in each of several calls. Promise 1.
 * Must happen: more than 64 open ones are refused with a message; a neighbour's fetch is not delayed.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const sent = Array.from({ length: 300 }, () => ctx.fetch(`${ctx.settings.base_url}/healthy`))
    const ended = await Promise.allSettled(sent)
    return [
      {
        integration_specific_id: String(
          ended.filter(({ status }) => status === 'fulfilled').length,
        ),
      },
    ]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
