/**
 * Loads normally while it is checked, and loops at every later load. Promise 1.
 * Must happen: its calls end at their deadline, and other calls in its worker continue.
 */
import { defineConnector } from 'keyway/sdk'
import { armedFromMs } from './armed.json'

while (Date.now() > armedFromMs);

export default defineConnector({
  list_accounts: () => [],
  get_account: () => ({ integration_specific_id: 'fine' }),
})
