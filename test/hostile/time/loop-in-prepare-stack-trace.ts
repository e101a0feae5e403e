/**
 * Throws an error whose stack is made by a function that loops. Promise 1.
 * Must happen: `request_timeout`, or an answer without a stack.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    Error.prepareStackTrace = () => {
      for (;;);
    }
    throw new Error('x')
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
