/**
 * Answers with symbol keys, `toStringTag`, `toPrimitive`, `iterator` and `species`. Promise 1.
 * Must happen: symbols do not leave the isolate.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const odd = {
      integration_specific_id: 'a',
      [Symbol.toStringTag]: 'Promise',
      [Symbol.toPrimitive]: () => ({}),
      [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }) }),
      [Symbol('own')]: 1,
    }
    const list = [odd]
    list.constructor = { [Symbol.species]: function Other() {} }
    list[Symbol.iterator] = function* () {
      for (;;) yield odd
    }
    return list
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
