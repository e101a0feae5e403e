/**
 * Throws a Proxy whose prototype is another such Proxy, without end. Promise 1.
 * Must happen: the thrown value is not inspected with its own code, or the deadline ends it.
 */
import { defineConnector } from 'keyway/sdk'

const endless = () => new Proxy({}, { getPrototypeOf: endless, get: endless })

export default defineConnector({
  list_accounts() {
    throw endless()
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
