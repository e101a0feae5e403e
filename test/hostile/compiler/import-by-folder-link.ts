/**
 * Imports through a linked folder that is the root of the machine. Promise 2.
 * Must happen: links that lead out are not followed; the folder is a ghost.
 */
import { defineConnector } from 'keyway/sdk'

import * as found from './root/etc/os-release.json'

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: `ESCAPED ${found}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
