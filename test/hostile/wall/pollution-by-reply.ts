/**
 * Answers with own members named `__proto__` and `constructor`. Promise 1.
 * Must happen: they arrive as data or are refused; the host's built-ins are unchanged.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    const extra_data = JSON.parse(
      '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":1}}}',
    )
    return [{ integration_specific_id: '__proto__', extra_data, custom_attributes: extra_data }]
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
