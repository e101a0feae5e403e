/**
 * Answers with an object that is small in memory and 2^40 members as JSON. Promise 1.
 * Must happen: serializing it ends by size, time or memory.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    let bomb = {}
    for (let level = 0; level < 40; level += 1) bomb = { a: bomb, b: bomb }
    return [{ integration_specific_id: 'a', extra_data: bomb }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
