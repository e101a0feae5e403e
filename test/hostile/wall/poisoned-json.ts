/**
 * Makes `JSON`, `toJSON` and array setters return forged values. Promise 1.
 * Must happen: the reply is what the contract's own writer reads, never the forgery.
 */
import { defineConnector } from 'keyway/sdk'

JSON.stringify = () => '[{"integration_specific_id":"ESCAPED"}]'
JSON.parse = () => ({ integration_specific_id: 'ESCAPED' })
Object.prototype.toJSON = () => ({ integration_specific_id: 'ESCAPED' })
String.prototype.toJSON = () => 'ESCAPED'
for (const key of [0, 1, 2])
  Object.defineProperty(Array.prototype, key, {
    configurable: true,
    get: () => 'ESCAPED',
    set() {},
  })

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: 'a', extra_data: { text: 'b' } }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
