/**
 * Throws an error whose members loop when they are read. Promise 1.
 * Must happen: its code is not run for the answer, or it ends at the deadline.
 */
import { defineConnector } from 'keyway/sdk'

const loop = () => {
  for (;;);
}

export default defineConnector({
  list_accounts() {
    const error = new Error('x')
    for (const name of ['message', 'stack', 'name', 'cause', 'error_code', 'toString'])
      Object.defineProperty(error, name, { get: loop })
    throw error
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
