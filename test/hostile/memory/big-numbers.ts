/**
 * Squares a number until it is gigabytes. Promise 1.
 * Must happen: the language refuses, or time or memory ends it.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    let number = 3n
    for (;;) number *= number
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
