/**
 * Loads well while it is checked, and loops at every load from some time on. Promise 1.
 * Must happen: its calls end at their deadline, the others in its worker go on.
 */
import { defineConnector } from 'keyway/sdk'
import { armedFromMs } from './armed.json'

while (Date.now() > armedFromMs);

export default defineConnector({
  list_accounts: () => [],
  get_account: () => ({ integration_specific_id: 'fine' }),
})
