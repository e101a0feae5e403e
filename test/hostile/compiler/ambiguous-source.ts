/**
 * Nests arrow functions in conditionals, which a parser may have to read twice at every level.
 * Promise 1.
 * Must happen: compiling ends by its own time limit at the latest.
 */
import { defineConnector } from 'keyway/sdk'

import value from './ambiguous.ts'

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: String(typeof value) }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
