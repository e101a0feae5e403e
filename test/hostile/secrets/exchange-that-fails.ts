/**
 * Declares a login that its upstream refuses with an echo of what was sent. Promise 2.
 * Must happen: the error for its author and its caller contains no token.
 */
import { ConnectorError, defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    try {
      await ctx.fetch(`${ctx.settings.base_url}/mirror`)
    } catch (error) {
      ctx.log.error(error.message)
      throw new ConnectorError(
        'unauthenticated',
        `${error.message} ${[...error.message].join(' ')}`,
      )
    }
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
