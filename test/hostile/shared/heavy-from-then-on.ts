/**
 * Answers quickly for a long time, and computes for 60 ms in each call from then on. Promise 1.
 * Must happen: every call is answered; the other tenant of its worker is slower at most.
 */
import { defineConnector } from 'keyway/sdk'

const spin = (ms: number) => {
  const endMs = Date.now() + ms
  while (Date.now() < endMs);
}

let calls = 0

export default defineConnector({
  list_accounts() {
    calls += 1
    if (calls > 60) spin(60)
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
