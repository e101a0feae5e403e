/**
 * Answers with a Proxy that was revoked. Promise 1.
 * Must happen: the reply is refused with a message.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const { proxy, revoke } = Proxy.revocable([], {})
    revoke()
    return proxy
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
