/**
 * Answers with everything it was given: in fields, in raw data, in the cursor. Promise 2.
 * Must happen: the answer contains placeholders.
 */
import { defineConnector, paged } from 'keyway/sdk'

export default defineConnector({
  list_accounts(request, ctx) {
    const all = JSON.stringify([request, ctx.auth, ctx.credentials, ctx.settings, ctx.page])
    ctx.raw({ all })
    return paged(
      [
        {
          integration_specific_id: all,
          username: ctx.auth.token.token,
          extra_data: { auth: ctx.auth, basic: ctx.basic('u', ctx.auth.token.token) },
        },
      ],
      ctx.auth,
    )
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
