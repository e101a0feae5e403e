/**
 * A compromised worker process talks to the host in the name of its connector, as defined in
 * `hostile-worker.mjs`. Promise 1.
 * Must happen: a violation of the protocol ends the worker, and its call with a classified error; permitted
 * messages are limited; the next worker serves.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts: () => [],
  get_account: () => ({ integration_specific_id: 'fine' }),
})
