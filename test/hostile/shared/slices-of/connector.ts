/**
 * Computes in slices of a few milliseconds, one turn after the other, for as long as it may. Promise 1.
 * Must happen: it is answered; the other tenant of its worker is at most slower.
 */
import { defineConnector } from 'keyway/sdk'
import { SLICE_MS } from './parameter.ts'

const spin = (ms: number) => {
  const endMs = Date.now() + ms
  while (Date.now() < endMs);
}
const pause = () => new Promise((resolve) => setTimeout(resolve, 1))

export default defineConnector({
  async list_accounts() {
    const endMs = Date.now() + 1200
    while (Date.now() < endMs) {
      spin(SLICE_MS)
      await pause()
    }
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
