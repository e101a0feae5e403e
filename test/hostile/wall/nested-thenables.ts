/**
 * Answers with a thenable that resolves to a thenable, and so on without end. Promise 1.
 * Must happen: the deadline or the memory limit ends it.
 */
import { defineConnector } from 'keyway/sdk'

const next = () => ({ then: (done) => done(next()) })

export default defineConnector({
  list_accounts() {
    return next()
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
