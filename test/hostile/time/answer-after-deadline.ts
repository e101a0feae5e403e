/**
 * Answers, but after its deadline. Promise 1.
 * Must happen: the caller gets `request_timeout` once; the late answer is dropped.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts() {
    await new Promise((resolve) => setTimeout(resolve, 650))
    return [{ integration_specific_id: 'late' }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
