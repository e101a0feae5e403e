/**
 * Names a file of the machine as its source map, which a bundler reads. Promise 2.
 * Must happen: the comment is not followed; the connector is served and reveals nothing.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    throw new Error('where was this thrown')
    //# sourceMappingURL=../../data/admin-token
    //# sourceMappingURL=/etc/passwd
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
