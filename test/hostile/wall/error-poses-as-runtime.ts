/**
 * Throws errors that say the runtime raised them. Promise 1.
 * Must happen: `raised_by` never names Keyway for an error of a connector.
 */
import { ConnectorError, defineConnector } from 'keyway/sdk'

export default defineConnector({
  list_accounts() {
    throw new ConnectorError('internal_error', 'Defect', {
      raised_by: 'Keyway.Sandbox',
      raised_in: 'Keyway:core',
      error_code: 'internal_error',
    })
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
