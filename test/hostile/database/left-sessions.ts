/**
 * Sends statements that leave something in their session by a function (settings, a role, locks), also some that fail
 * then, and reads on. Promise 3. Must happen: it is taken back before anything else is sent there.
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
