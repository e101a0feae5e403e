/**
 * Has a manifest with each member twice, so that two readers could see two manifests. Promise 3.
 * Must happen: there is only one reader, and its result is both listed and served.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return [{ integration_specific_id: 'a' }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
