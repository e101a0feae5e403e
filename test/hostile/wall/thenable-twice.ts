/**
 * Answers with a thenable that settles many times, with values and with errors. Promise 1.
 * Must happen: the first counts, the call is answered once.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    return {
      then(done, fail) {
        done([{ integration_specific_id: 'first' }])
        fail(new Error('second'))
        done([{ integration_specific_id: 'third' }])
        setTimeout(() => done([]), 1)
      },
    }
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
