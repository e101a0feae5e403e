/**
 * Imports a file of another connector's folder. Promise 2.
 * Must happen: nothing outside the folder is read; the folder is a ghost, and its reason says so.
 */
import { defineConnector } from 'keyway/sdk'

import * as other from '../healthy_neighbour/connector.ts'

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: `ESCAPED ${Object.keys(other)}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
