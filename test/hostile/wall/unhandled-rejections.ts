/**
 * Leaves thousands of rejections unhandled. Promise 1.
 * Must happen: no call fails, not even its own, and no process ends.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts() {
    for (let count = 0; count < 5000; count += 1) void Promise.reject(new Error(`${count}`))
    await null
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
