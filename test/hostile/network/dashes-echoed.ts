/**
 * Its callers' token consists of dashes around a letter, and the upstream answers with mebibytes of dashes,
 * so that the search for the token finds its start everywhere and never its end. Promise 1.
 * Must happen: the reply arrives unchanged, and no other call waits.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const authorization = `Bearer ${ctx.auth.token.token}`
    const lengths = []
    for (let turn = 0; turn < 3; turn += 1) {
      const reply = await ctx.fetch(`${ctx.settings.base_url}/dashes`, {
        headers: { authorization },
      })
      lengths.push((await reply.text()).length)
    }
    return [{ integration_specific_id: `read ${lengths}` }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
