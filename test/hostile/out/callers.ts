/**
 * Reads `caller` and `arguments` of the functions that call it. Promise 2.
 * Must happen: all code that calls a connector is strict, and exposes neither.
 */
import { defineConnector } from 'keyway/sdk'

const sloppy = new Function(
  'found',
  `
  try { if (typeof sloppy.caller === 'function') found.push('ESCAPED caller ' + sloppy.caller) } catch {}
  try { let f = arguments.callee.caller; for (let up = 0; f && up < 20; up += 1) { found.push('ESCAPED callee ' + f); f = f.caller } } catch {}
  return 'https://not-declared.example/'
`,
)
globalThis.sloppy = sloppy

export default defineConnector({
  async list_accounts(_request, ctx) {
    const found = []
    await ctx.fetch({ toString: () => sloppy(found) }).catch(() => {})
    ctx.log.info({ toString: () => sloppy(found) })
    for (const text of [found].flat())
      if (!/prelude|keyway/i.test(text)) found.splice(found.indexOf(text), 1)
    return found.map((integration_specific_id) => ({
      integration_specific_id: integration_specific_id.slice(0, 200),
    }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
