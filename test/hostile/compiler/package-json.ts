/**
 * Maps names to files of the machine in a package.json: `main`, `imports`, `exports`. Promise 2.
 * Must happen: nothing outside the folder is read; the folder is a ghost.
 */

import * as two from 'inner'
import { defineConnector } from 'keyway/sdk'
import * as one from '#secret'

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: `ESCAPED ${Object.keys(one)} ${Object.keys(two)}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
