/**
 * Creates functions of every kind from text: async, generator, by eval, by timers. Promise 2.
 * Must happen: all of them see only the isolate's global.
 */
import { defineConnector } from 'keyway/sdk'

const NAMES = [
  'process',
  'require',
  'module',
  'Buffer',
  'global',
  'Deno',
  'Bun',
  'importScripts',
  'ivm',
  '__keyway',
]
const MAKERS = [
  Function,
  (async () => {}).constructor,
  function* () {}.constructor,
  async function* () {}.constructor,
]

export default defineConnector({
  async list_accounts() {
    const found = []
    for (const maker of MAKERS) {
      for (const name of NAMES) {
        const made = maker(`return typeof ${name}`)()
        const value = typeof made.next === 'function' ? (await made.next()).value : await made
        if (value !== 'undefined') found.push(`ESCAPED ${name}`)
      }
    }
    for (const name of NAMES)
      if ((0, eval)(`typeof ${name}`) !== 'undefined') found.push(`ESCAPED ${name}`)
    return found.map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
