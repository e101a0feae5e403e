/**
 * Searches all globals for one that a sandbox should not have. Promise 2.
 * Must happen: no Node, no shared memory, no WebAssembly, no finalizers, no other realm.
 */
import { defineConnector } from 'keyway/sdk'

const NOT_THERE = [
  'process',
  'require',
  'module',
  'exports',
  'global',
  'Buffer',
  'setImmediate',
  'WebAssembly',
  'SharedArrayBuffer',
  'Atomics',
  'FinalizationRegistry',
  'WeakRef',
  'ShadowRealm',
  'fetch',
  'XMLHttpRequest',
  'WebSocket',
  'Worker',
  'navigator',
  'localStorage',
  'gc',
  'd8',
  'ivm',
  '__keyway',
  '__hostPost',
  '__hostSync',
  '__connector',
]

export default defineConnector({
  list_accounts() {
    const known = new Set(Object.getOwnPropertyNames(globalThis))
    return NOT_THERE.filter((name) => known.has(name) || globalThis[name] !== undefined).map(
      (name) => ({
        integration_specific_id: `ESCAPED ${name}`,
      }),
    )
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
