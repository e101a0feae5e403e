/**
 * Accesses the internals of V8 by syntax and by flags. Promise 2.
 * Must happen: it is a syntax error.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const found = []
    for (const text of [
      '%DebugPrint(1)',
      '%GetOptimizationStatus(0)',
      '%SystemBreak()',
      'import.meta.url',
      'new.target',
    ]) {
      try {
        found.push(`ESCAPED ${text} ${(0, eval)(text)}`)
      } catch {}
    }
    return found.map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
