/**
 * Answers a sync with objects whose members all have different names, which is the slowest JSON to parse.
 * Promise 1.
 * Must happen: the page is refused where it is made, and the host's health is reported as usual.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts: () =>
    Array.from({ length: 1000 }, (_, n) => ({
      integration_specific_id: `a${n}`,
      extra_data: Object.fromEntries(Array.from({ length: 100 }, (_, m) => [`k${n}_${m}`, {}])),
    })),
  get_account: () => ({ integration_specific_id: 'fine' }),
})
