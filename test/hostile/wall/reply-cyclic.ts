/**
 * Answers with an object that contains itself. Promise 1.
 * Must happen: the reply is refused with a message.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const extra_data = {}
    extra_data.self = extra_data
    return [{ integration_specific_id: 'a', extra_data }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
