/**
 * Names capabilities, settings and limits like members of Object.prototype. Promise 1.
 * Must happen: the folder is a ghost, with a message that names them; the host looks up `__proto__` in no
 * table.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
