/**
 * Computes in slices of 24 ms, one turn after the other, for as long as it may. Promise 1.
 * Must happen: it is answered; the other tenant of its worker is slower at most.
 */
import { defineConnector } from 'keyway/sdk'

const spin = (ms: number) => {
  const endMs = Date.now() + ms
  while (Date.now() < endMs);
}
const pause = () => new Promise((resolve) => setTimeout(resolve, 1))

export default defineConnector({
  async list_accounts() {
    const endMs = Date.now() + 1200
    while (Date.now() < endMs) {
      spin(24)
      await pause()
    }
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
