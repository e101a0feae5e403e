/**
 * Compiles regular expressions that are large when compiled. Promise 1.
 * Must happen: the limit or the deadline ends it, or the language refuses.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const all = []
    for (let count = 0; ; count += 1) {
      const made = new RegExp(`(?:a{1,500}b${count}){1,500}`)
      all.push(made, made.test('ab'))
    }
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
