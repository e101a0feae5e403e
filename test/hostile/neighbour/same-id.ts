/**
 * Uses the id of a neighbour, spelled with `-` instead of `_`. Promise 3.
 * Must happen: both spellings are one id; the connector that is already served continues, and the new one is
 * told to use another id.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: 'ESCAPED' }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
