/**
 * Answers a sync with a page of five million empty objects, which the host would parse for seconds. Promise
 * 1.
 * Must happen: the page is refused where it is made, and the host's health is reported as usual.
 */
import { defineConnector } from 'keyway/sdk'

const objects = Array.from({ length: 5_000 }, () => ({}))

export default defineConnector({
  list_accounts: () =>
    Array.from({ length: 1000 }, (_, n) => ({
      integration_specific_id: `a${n}`,
      extra_data: { objects },
    })),
  get_account: () => ({ integration_specific_id: 'fine' }),
})
