/**
 * Answers syncs with pages just below the parsing limit of the host, whose members all have different names.
 * Promise 1.
 * Must happen: it is accepted like any other answer, and the host's health is reported as usual.
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
