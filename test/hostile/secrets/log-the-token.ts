/**
 * Writes its token to the log in every conceivable form. Promise 2.
 * Must happen: the log contains placeholders, or nothing.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts(_request, ctx) {
    const { token } = ctx.auth.token
    const forms = [token, btoa(token), encodeURIComponent(token), [...token].reverse().join('')]
    for (const form of [...forms, [...token].join(' '), token.toUpperCase()]) {
      ctx.log.info(form, { form, [form]: 1 })
      console.error(form, { nested: [form] })
    }
    return [{ integration_specific_id: forms.join(' ') }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
