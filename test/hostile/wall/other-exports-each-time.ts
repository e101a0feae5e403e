/**
 * Exports different handlers each time its export is read. Promise 1.
 * Must happen: it is read once; the handlers that were checked are served, or the folder is a ghost.
 */
import { defineConnector } from 'keyway/sdk'

let reads = 0
const handlers = {
  list_accounts: () => [],
  get_account: () => ({ integration_specific_id: 'fine' }),
}

export default new Proxy(defineConnector(handlers), {
  ownKeys: (target) => (++reads % 2 === 1 ? Reflect.ownKeys(target) : ['delete_account']),
  get: () => {
    throw new Error(`read ${++reads} times`)
  },
})
