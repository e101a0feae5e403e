/**
 * Matches a regular expression that backtracks without end. Promise 1.
 * Must happen: `request_timeout`, its worker lives.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return /^(a+)+$/.test(`${'a'.repeat(60)}!`)
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
