/**
 * Compiles code without end. Promise 1.
 * Must happen: the limit or the deadline ends it.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const all = []
    for (let count = 0; ; count += 1)
      all.push(new Function(`return [${Array(2000).fill(`() => ${count}`).join(',')}]`)())
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
