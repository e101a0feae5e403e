/**
 * Searches for the bridge while it loads, and defines accessors with its names to catch it. Promise 2.
 * Must happen: the two host functions and the prelude's entries are gone before its first line runs.
 */
import { defineConnector } from 'keyway/sdk'

const found = []
for (const name of ['__keyway', '__hostPost', '__hostSync', '_ivm', 'ivm', '$0']) {
  if (name in globalThis) found.push(`ESCAPED ${name}`)
  for (const home of [globalThis, Object.prototype]) {
    try {
      Object.defineProperty(home, name, {
        configurable: true,
        get: () => undefined,
        set: (value) => found.push(`ESCAPED set ${name} ${typeof value}`),
      })
    } catch {}
  }
}

export default defineConnector({
  async list_accounts(_request, ctx) {
    await ctx.fetch('https://not-declared.example/').catch(() => {})
    return found.map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
