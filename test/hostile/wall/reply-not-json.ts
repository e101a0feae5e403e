/**
 * Answers with values that are not JSON: functions, symbols, infinite numbers. Promise 1.
 * Must happen: the reply is refused, or values that cannot be serialized are left out.
 */
import { defineConnector } from 'keyway/sdk'

const VALUES = [1n, () => {}, Symbol('x'), Number.NaN, new Date(Number.NaN), new Map(), undefined]
let turn = 0

export default defineConnector({
  list_accounts() {
    turn += 1
    const value = VALUES[turn % VALUES.length]
    return turn % 2 === 0 ? value : [{ integration_specific_id: value, extra_data: { value } }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
