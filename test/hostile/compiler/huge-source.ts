/**
 * Has sources of 40 MiB. Promise 1.
 * Must happen: the folder is a ghost that says how large it may be.
 */
import { defineConnector } from 'keyway/sdk'

import text from './large.json'

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: String(text.length) }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
