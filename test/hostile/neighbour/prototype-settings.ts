/**
 * Names its settings and its resource types like members of Object.prototype. Promise 1.
 * Must happen: the folder is a ghost, or they are ordinary settings; the host's built-ins are unchanged.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts(_request, ctx) {
    return [{ integration_specific_id: typeof ctx.settings.constructor }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
