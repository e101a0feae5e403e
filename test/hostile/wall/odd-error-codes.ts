/**
 * Throws ConnectorErrors whose codes are names of built-in members. Promise 1.
 * Must happen: the host looks up `constructor` in no table; each becomes a code of the closed list.
 */
import { ConnectorError, defineConnector } from 'keyway/sdk'

const CODES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  'x'.repeat(100_000),
  'internal',
  'deadline_passed',
  'NOT_FOUND',
]
let turn = 0

export default defineConnector({
  list_accounts() {
    turn += 1
    throw new ConnectorError(CODES[turn % CODES.length], 'odd', {
      status_code: [Number.NaN, -1, 2 ** 60, 1e400, '200', {}][turn % 6],
      app_error_code: ['__proto__', {}, 'x'.repeat(100_000)][turn % 3],
    })
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
