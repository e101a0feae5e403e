/**
 * Imports modules of Node, plainly and by prefix. Promise 2.
 * Must happen: the folder is a ghost, with a message that names the alternatives.
 */

import { readFileSync } from 'node:fs'
import { spawn } from 'child_process'
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: `ESCAPED ${readFileSync} ${spawn}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
