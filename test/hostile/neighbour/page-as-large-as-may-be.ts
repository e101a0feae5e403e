/**
 * Answers syncs with pages that are just within what the host parses, of members that all have other names. Promise 1.
 * Must happen: it is an answer like any other, and the host's health is told as ever.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts: () =>
    Array.from({ length: 1000 }, (_, n) => ({
      integration_specific_id: `a${n}`,
      extra_data: Object.fromEntries(Array.from({ length: 20 }, (_, m) => [`k${n}_${m}`, 0])),
    })),
  get_account: () => ({ integration_specific_id: 'fine' }),
})
