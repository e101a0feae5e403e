/**
 * A worker process that was taken over speaks to the host in its connector's name; `hostile-worker.mjs`
 * says how. Promise 1.
 * Must happen: a breach of the protocol ends the worker and classifies its call; what is allowed is
 * bounded; the next worker serves.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts: () => [],
  get_account: () => ({ integration_specific_id: 'fine' }),
})
