/**
 * Throws an error whose message has half a gigabyte. Promise 1.
 * Must happen: the message is truncated before it leaves the isolate.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const part = 'x'.repeat(2 ** 24)
    throw new Error(part.repeat(30))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
