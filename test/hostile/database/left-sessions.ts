/**
 * Sends statements that leave state in their session through a function (settings, a role, locks), some of
 * which then fail, and continues to read. Promise 3.
 * Must happen: the state is reset before anything else is sent in that session.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    for (const statement of ['leaves', 'fails', 'leaves', 'fine']) {
      await ctx.sql.query(statement).catch(() => {})
      await ctx.sql.query(statement, [], { page: { size: 10 } }).catch(() => {})
    }
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
