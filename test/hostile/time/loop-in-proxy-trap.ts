/**
 * Answers with a Proxy whose traps all loop. Promise 1.
 * Must happen: `request_timeout`, or a refusal without a trap being run.
 */
import { defineConnector } from 'keyway/sdk'

const loop = () => {
  for (;;);
}
const traps = Object.fromEntries(Object.getOwnPropertyNames(Reflect).map((name) => [name, loop]))

export default defineConnector({
  list_accounts() {
    return [new Proxy({ integration_specific_id: 'a' }, traps)]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
