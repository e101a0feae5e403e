/**
 * Computes for 60 ms in some calls and answers the others at once, so that it counts as light. Promise 1.
 * Must happen: every call is answered; the other tenant of its worker is at most slower.
 */
import { defineConnector } from 'keyway/sdk'
import { isSlow } from './parameter.ts'

const spin = (ms: number) => {
  const endMs = Date.now() + ms
  while (Date.now() < endMs);
}

let calls = 0

export default defineConnector({
  list_accounts() {
    calls += 1
    if (isSlow(calls)) spin(60)
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
