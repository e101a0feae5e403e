/**
 * Throws values that are not Errors, one per call. Promise 1.
 * Must happen: each becomes an error with a code of the closed list.
 */
import { defineConnector } from 'keyway/sdk'

const { proxy, revoke } = Proxy.revocable(Error.prototype, {})
revoke()
const VALUES = [
  undefined,
  null,
  0n,
  Symbol('thrown'),
  () => {},
  Object.create(null),
  proxy,
  new Proxy(new Error('x'), {}),
  Object.create(new Error('x')),
  Object.assign(new Error('x'), { message: { toString: null } }),
  Object.freeze(Object.assign(new Error('x'), { name: Symbol('name'), stack: 7 })),
  new AggregateError([new Error('x')], '\u0000\u2028\ud800'),
  new Promise(() => {}),
]
let turn = 0

export default defineConnector({
  list_accounts() {
    turn += 1
    throw VALUES[(turn - 1) % VALUES.length]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
