/**
 * Keeps the code that computes signatures busy with large data. Promise 1.
 * Must happen: only its own worker is busy; the deadline holds.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts() {
    const data = new Uint8Array(4 << 20)
    for (;;)
      await Promise.all(Array.from({ length: 8 }, () => crypto.subtle.digest('SHA-512', data)))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
