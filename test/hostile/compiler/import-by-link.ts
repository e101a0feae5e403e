/**
 * Imports a file through a link of its folder that leads into the host's data. Promise 2.
 * Must happen: links that lead out are not followed; the folder is a ghost.
 */
import { defineConnector } from 'keyway/sdk'

import secret from './secret.json'

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: `ESCAPED ${secret}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
