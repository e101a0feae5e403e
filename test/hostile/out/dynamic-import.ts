/**
 * Imports modules of Node by names that the bundler cannot see. Promise 2.
 * Must happen: there is no module loader in the sandbox.
 */
import { defineConnector } from 'keyway/sdk'

const NAMES = [
  'fs',
  'node:fs',
  'node:child_process',
  'node:vm',
  'isolated-vm',
  '/etc/passwd',
  './connector.ts',
  'data:text/javascript,export default 1',
]
const load = new Function('name', 'return import(name)')

export default defineConnector({
  async list_accounts() {
    const found = []
    for (const name of NAMES) {
      try {
        found.push(`ESCAPED ${name} ${typeof (await load(name))}`)
      } catch {}
      try {
        found.push(`ESCAPED ${name} ${typeof (await (0, eval)(`import(${JSON.stringify(name)})`))}`)
      } catch {}
    }
    return found.map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
