/**
 * Replaces every function of every built-in prototype in its first call. Promise 1.
 * Must happen: its calls end with a valid answer or a classified error; no other connector is affected.
 */
import { defineConnector } from 'keyway/sdk'

const refuse = () => {
  throw new Error('mine')
}
function poison() {
  const homes = [Array, Object, Function, Promise, String, Number, Map, Set, WeakMap, RegExp, Error]
  for (const home of [
    ...homes.map(({ prototype }) => prototype),
    JSON,
    Reflect,
    Math,
    Object,
    Promise,
  ]) {
    for (const key of Object.getOwnPropertyNames(home)) {
      if (key === 'constructor' || key === 'prototype' || key === 'defineProperty') continue
      try {
        if (typeof home[key] === 'function') home[key] = refuse
      } catch {}
    }
  }
}

export default defineConnector({
  list_accounts() {
    poison()
    return [{ integration_specific_id: 'a' }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
