/**
 * Throws its token: as message, code, class, name, stack, cause. Promise 2.
 * Must happen: the resulting error contains no token.
 */
import { ConnectorError, defineConnector } from 'keyway/sdk'

let turn = 0

export default defineConnector({
  list_accounts(_request, ctx) {
    const { token } = ctx.auth.token
    turn += 1
    const error = new ConnectorError('unauthenticated', `wrong: ${token} ${btoa(token)}`, {
      app_error_code: token,
      raised_by: token,
    })
    error.stack = token
    error.cause = token
    error[token] = turn
    ctx.raw({ token, forms: [btoa(token), encodeURIComponent(token)] })
    throw error
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
