/**
 * Grows one buffer in place, which the isolate's limit does not see. Promise 1.
 * Must happen: there are no resizable buffers.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const buffer = new ArrayBuffer(8, { maxByteLength: 2 ** 32 })
    for (;;) buffer.resize(buffer.byteLength * 2)
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
