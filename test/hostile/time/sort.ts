/**
 * Sorts with a comparison that is never done. Promise 1.
 * Must happen: `request_timeout`, its worker lives.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return Array.from({ length: 1000 }, (_, index) => index).sort(() => {
      for (;;);
    })
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
