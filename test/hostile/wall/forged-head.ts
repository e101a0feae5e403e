/**
 * Answers with the members that the sandbox uses to describe a reply to the host. Promise 1.
 * Must happen: they are treated like other members of a reply, and refused.
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
