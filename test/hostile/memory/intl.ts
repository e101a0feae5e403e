/**
 * Makes Intl objects, whose memory lies outside the heap. Promise 1.
 * Must happen: its worker's bound ends it; the host and the others do not notice.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const all = []
    for (;;) all.push(new Intl.DateTimeFormat('en', { timeZone: 'UTC', dateStyle: 'full' }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
