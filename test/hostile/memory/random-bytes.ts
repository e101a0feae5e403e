/**
 * Requests as many random bytes from the host as it will return. Promise 1.
 * Must happen: sizes over the limit of the web standard are refused; the rest is the isolate's own memory.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const all = []
    for (const size of [2 ** 16, 2 ** 17, 2 ** 26, 2 ** 31 - 1]) {
      try {
        for (let count = 0; count < 200; count += 1)
          all.push(crypto.getRandomValues(new Uint8Array(size)))
        if (size > 2 ** 16) return [{ integration_specific_id: `ESCAPED ${size} random bytes` }]
      } catch {}
    }
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
