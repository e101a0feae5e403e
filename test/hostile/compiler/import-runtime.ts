/**
 * Imports the runtime's own sources and packages by name. Promise 2.
 * Must happen: only `keyway/sdk` is there; the folder is a ghost.
 */

import * as ivm from 'isolated-vm'
import * as host from 'keyway/runtime/main.ts'
import { defineConnector } from 'keyway/sdk'
import * as seal from 'keyway/sdk/../seal.ts'

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: `ESCAPED ${[ivm, host, seal]}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
