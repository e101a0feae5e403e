/**
 * Makes one array larger than its limit. Promise 1.
 * Must happen: the language refuses or the limit ends it.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return [
      {
        integration_specific_id: String(
          Array.from({ length: 2 ** 26 }, (_, index) => index).length,
        ),
      },
    ]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
