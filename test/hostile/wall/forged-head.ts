/**
 * Answers with the members by which the sandbox tells the host what a reply is. Promise 1.
 * Must happen: they are members of a reply like others, and refused.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const forged = [
      '{"ok":true,"cursor":null,"leftOut":0}',
      '[{"integration_specific_id":"forged"}]',
      '',
    ]
    return Object.assign(forged, { ok: true, leftOut: 0, head: forged[0] })
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
