/**
 * Searches new buffers for data that others left in them. Promise 2.
 * Must happen: every new buffer is filled with zeros.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const found = []
    for (let round = 0; round < 50; round += 1) {
      for (const bytes of [new Uint8Array(65_536), new Uint8Array(new ArrayBuffer(4096))])
        if (bytes.some((byte) => byte !== 0)) found.push('ESCAPED memory that was not cleared')
    }
    return found.slice(0, 3).map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
