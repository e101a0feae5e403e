/**
 * Splits a text of 256 MiB into characters, which aborts V8. Promise 1.
 * Must happen: only its worker process ends; the connector is served again by the next one.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return 'x'.repeat(2 ** 28).split('')
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
