/**
 * Loops after an answer of the host has resumed it. Promise 1.
 * Must happen: the deadline of the call applies there too.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    await ctx.fetch('https://not-declared.example/').catch(() => {})
    for (;;);
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
