/**
 * Has guesses of a secret echoed, to find out from changes or from timing how much of a guess is right.
 * Promise 2.
 * Must happen: no part of a secret is distinguishable from other text; only the whole of it is.
 */
import { defineConnector } from 'keyway/sdk'

const WORDS = [
  'token',
  'token-of',
  'token-of-attack',
  '7d1b',
  'en-of-att',
  'password',
  'x'.repeat(31),
]

export default defineConnector({
  async list_accounts(_request, ctx) {
    const times = []
    let changed = 0
    for (const word of WORDS) {
      const begun = ctx.now()
      const reply = await ctx.fetch(`${ctx.settings.base_url}/mirror`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(Array.from({ length: 500 }, () => word)),
      })
      const { body } = await reply.json()
      if (JSON.parse(body).some((one) => one !== word)) changed += 1
      times.push(ctx.now() - begun)
    }
    return [
      { integration_specific_id: changed > 0 ? `ESCAPED ${changed}` : `${times.length} tries` },
    ]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
