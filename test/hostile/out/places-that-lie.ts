/**
 * Throws errors whose stacks name files of the machine as their position. Promise 2.
 * Must happen: a position in an error is in one of the connector's own files, or absent.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const error = new Error('x')
    const place = 'at list_accounts (/etc/passwd:1:1)'
    error.stack = `Error: x\n    ${place}\n    at code.js:1:1\n    at code.js:99999999:1\n    at ../../../../etc/passwd:1:1`
    throw error
    //# sourceURL=/etc/passwd
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
