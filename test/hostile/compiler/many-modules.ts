/**
 * Imports two thousand modules that import each other. Promise 1.
 * Must happen: it compiles within its time limit, or the folder is a ghost.
 */
import { defineConnector } from 'keyway/sdk'

import { value } from './module-0.ts'

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: String(value).slice(0, 10) }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
