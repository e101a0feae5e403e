/**
 * Grows a Map, which may abort the process in spite of its limit. Promise 1.
 * Must happen: its isolate or its worker ends; the connector is served again.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const all = new Map()
    for (let count = 0; ; count += 1) all.set(count, `a text of some length ${count}`)
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
