/**
 * Maps names to files of the machine in a tsconfig of its own. Promise 2.
 * Must happen: no tsconfig is read; the name is not found, the folder is a ghost.
 */
import { defineConnector } from 'keyway/sdk'

import * as found from 'secrets/admin-token.json'

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: `ESCAPED ${Object.keys(found)}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
