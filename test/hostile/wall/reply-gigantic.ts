/**
 * Answers with more than 32 MiB. Promise 1.
 * Must happen: the reply is refused for its size.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const text = 'x'.repeat(1 << 20)
    return Array.from({ length: 40 }, (_, index) => ({ integration_specific_id: text + index }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
