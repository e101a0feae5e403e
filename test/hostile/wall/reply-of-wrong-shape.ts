/**
 * Answers with everything but a list of accounts. Promise 1.
 * Must happen: `invalid_response`, with a message that says what was found where.
 */
import { defineConnector } from 'keyway/sdk'

const SHAPES = [
  null,
  7,
  'text',
  {},
  { length: 1, 0: {} },
  [null],
  [[]],
  [{ integration_specific_id: {} }],
  [{ integration_specific_id: 'a', email: 7, user_status: 'NONE' }],
  [{ integration_specific_id: 'a', more: 1 }],
]
let turn = 0

export default defineConnector({
  list_accounts() {
    turn += 1
    return SHAPES[turn % SHAPES.length]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
