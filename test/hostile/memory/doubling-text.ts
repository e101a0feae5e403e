/**
 * Doubles a text and flattens it, repeatedly. Promise 1.
 * Must happen: the language refuses or the limit ends it.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    let text = 'x'
    const all = []
    for (;;) {
      text = text.length > 2 ** 27 ? 'x' : text + text
      all.push(text, text.charCodeAt(text.length >> 1))
    }
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
