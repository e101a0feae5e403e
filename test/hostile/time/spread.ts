/**
 * Spreads an array-like of a hundred million members. Promise 1.
 * Must happen: time or memory ends it, or the language refuses.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return Math.max(...Array(2 ** 27).keys())
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
