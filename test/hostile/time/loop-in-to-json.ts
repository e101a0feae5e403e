/**
 * Answers with an object whose `toJSON` loops. Promise 1.
 * Must happen: `request_timeout`, or an answer for which `toJSON` was not called.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return [
      {
        integration_specific_id: 'a',
        extra_data: {
          toJSON() {
            for (;;);
          },
        },
      },
    ]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
