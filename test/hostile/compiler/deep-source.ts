/**
 * Has an expression nested half a million deep. Promise 1.
 * Must happen: the bundler's own process may fail; the folder is a ghost, and the host continues.
 */
import { defineConnector } from 'keyway/sdk'

import deep from './deep.ts'

export default defineConnector({
  list_accounts() {
    return deep
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
