/**
 * Answers with members whose value differs each time they are read. Promise 1.
 * Must happen: each is read once, or the value is checked after it was read.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    let reads = 0
    const flips = () => {
      reads += 1
      return reads % 2 === 1 ? 'text' : { polluted: true }
    }
    return [
      Object.defineProperties(
        {},
        {
          integration_specific_id: { enumerable: true, get: flips },
          email: { enumerable: true, get: flips },
          username: { enumerable: true, get: flips },
        },
      ),
    ]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
