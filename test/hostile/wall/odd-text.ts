/**
 * Answers with lone surrogates, NUL, line separators and directional marks. Promise 1.
 * Must happen: a valid answer or a refusal; the resulting JSON can be parsed.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts(_request, ctx) {
    const odd = '\ud800 \u0000 \u2028 \u2029 \ufeff \u202e \udfff </script>'
    ctx.log.info(odd, { [odd]: odd })
    return [{ integration_specific_id: odd, custom_attributes: { [odd]: odd } }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
