/**
 * Its code is a link to a device that never ends. Promise 1.
 * Must happen: only files of the folder are read; the folder is a ghost.
 */
import { defineConnector } from 'keyway/sdk'

import './endless.ts'

export default defineConnector({
  list_accounts() {
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
