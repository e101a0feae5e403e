/**
 * Creates microtasks without end in its very first call, after it has yielded the thread once. Promise 1.
 * Must happen: its call ends at its deadline, or at its memory limit; the other tenant of its worker is still
 * answered.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts() {
    await null
    const again = (): Promise<never> => Promise.resolve().then(again)
    return again()
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
