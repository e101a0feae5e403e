/**
 * Names capabilities, settings and limits like members of Object.prototype. Promise 1.
 * Must happen: the folder is a ghost that names them; no table of the host is asked for
 * `__proto__`.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
