/**
 * Creates array buffers through every API that can create them. Promise 1.
 * Must happen: large sizes are refused, or the limit counts them.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts() {
    const all = []
    for (;;) {
      all.push(new ArrayBuffer(32 << 20), new Uint8Array(all.at(-1) ?? 1 << 20).slice())
      all.push(new TextEncoder().encode('x'.repeat(16 << 20)))
      all.push(await new Blob([all.at(-1)]).arrayBuffer())
    }
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
