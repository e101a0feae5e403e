import { defineConnector } from 'keyway/sdk'
import { accounts } from './accounts.ts'

export default defineConnector({
  async list_accounts() {
    return accounts
  },
  async assign_entitlement() {
    return { assigned: true }
  },
})
