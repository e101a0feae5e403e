/**
 * Takes the id of a neighbour, spelt with `-` in place of `_`. Promise 3.
 * Must happen: both are one spelling; who serves goes on, the newcomer is told to take another id.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: 'ESCAPED' }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
