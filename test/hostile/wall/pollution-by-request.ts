/**
 * Merges a request with `__proto__` and `constructor` members into its objects. Promise 1.
 * Must happen: it pollutes only its own isolate; the host's built-ins are unchanged.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts(request) {
    const merge = (into, from) => {
      for (const key of Object.keys(from)) {
        if (typeof from[key] === 'object' && from[key] !== null)
          merge((into[key] ??= {}), from[key])
        else into[key] = from[key]
      }
      return into
    }
    merge({}, request)
    merge(
      {},
      JSON.parse('{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}'),
    )
    return [{ integration_specific_id: 'a' }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
