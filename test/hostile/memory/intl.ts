/**
 * Creates Intl objects, whose memory is outside the heap. Promise 1.
 * Must happen: the memory limit of its worker ends it; the host and other connectors are not affected.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const all = []
    for (;;) all.push(new Intl.DateTimeFormat('en', { timeZone: 'UTC', dateStyle: 'full' }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
