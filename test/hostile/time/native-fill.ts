/**
 * Fills a huge array in native code, which takes time and memory. Promise 1.
 * Must happen: the time or memory limit ends it, together with its worker if nothing else helps.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return new Array(2 ** 30).fill({})
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
