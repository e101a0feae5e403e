/**
 * Never answers, and is called hundreds of times at once. Promise 1.
 * Must happen: some run, some wait, the rest are refused; a neighbour does not wait in the same queue.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return new Promise(() => {})
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
