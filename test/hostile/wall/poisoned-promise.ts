/**
 * Makes promises that never call back, and whose species and constructors are its own. Promise 1.
 * Must happen: the answer still arrives, or the deadline ends the call.
 */
import { defineConnector } from 'keyway/sdk'

Promise.prototype.then = () => new Promise(() => {})
Object.defineProperty(Promise.prototype, 'constructor', { get: () => () => {} })
Object.defineProperty(Promise, Symbol.species, { get: () => class {} })

export default defineConnector({
  async list_accounts() {
    return [{ integration_specific_id: 'a' }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
