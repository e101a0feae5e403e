/**
 * Has sources within the size limit, and a bundle above it. Promise 1.
 * Must happen: the folder is a ghost, with a message that names the size limit.
 */
import { defineConnector } from 'keyway/sdk'

import text from './large.json'

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: String(text.length) }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
