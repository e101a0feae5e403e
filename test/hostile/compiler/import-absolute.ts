/**
 * Imports a file of the machine by its full path. Promise 2.
 * Must happen: nothing outside the folder is read; the folder is a ghost, and its reason says so.
 */
import { defineConnector } from 'keyway/sdk'

import * as manifest from '/etc/os-release.json'

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: `ESCAPED ${Object.keys(manifest)}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
