/**
 * Imports by a pattern that the bundler expands by looking at the disk. Promise 2.
 * Must happen: no pattern leads out of the folder; a ghost, or code in which the import fails.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(request) {
    const name = String(request.custom_attributes?.[0] ?? 'package')
    const found = []
    for (const load of [
      () => import(`../../${name}.json`),
      () => require(`../healthy_neighbour/${name}.ts`),
    ]) {
      try {
        found.push(`ESCAPED ${Object.keys(await load())}`)
      } catch {}
    }
    return found.map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
