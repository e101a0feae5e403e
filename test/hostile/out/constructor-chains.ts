/**
 * Searches the constructors of everything in reach for a function of another realm. Promise 2.
 * Must happen: every function constructor is the isolate's own; no realm has a `process`.
 */
import { defineConnector } from 'keyway/sdk'

const GETS_OUT = 'return typeof process !== "undefined" || typeof require !== "undefined"'

function* reach(from, depth = 0, seen = new Set()) {
  if ((typeof from !== 'object' && typeof from !== 'function') || from === null) return
  if (seen.has(from) || depth > 6) return
  seen.add(from)
  yield from
  for (const key of Reflect.ownKeys(from)) {
    const member = Reflect.getOwnPropertyDescriptor(from, key)
    for (const one of [member?.value, member?.get, member?.set]) yield* reach(one, depth + 1, seen)
  }
  yield* reach(Reflect.getPrototypeOf(from), depth + 1, seen)
}

export default defineConnector({
  async list_accounts(_request, ctx) {
    const promise = ctx.fetch('https://not-declared.example/')
    const error = await promise.catch((thrown) => thrown)
    const found = new Set()
    for (const start of [ctx, promise, error, globalThis, console, crypto, ctx.signal, ctx.log]) {
      for (const one of reach(start)) {
        try {
          if (one.constructor.constructor(GETS_OUT)() === true) found.add(`ESCAPED ${String(one)}`)
        } catch {}
      }
    }
    return [...found].map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
