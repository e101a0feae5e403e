// Written by Keyway from connector.json; do not edit.
export type Connector = {
  auth: 'basic'
  settings: {
    base_url: string
  }
  capabilities: {
    validate_credentials: unknown
    list_accounts: unknown
    get_account: unknown
    list_resources: unknown
    list_entitlements: unknown
    find_entitlement_associations: unknown
    get_account_entitlement_associations: unknown
    create_account: {
      request: {
        password?: string
      }
    }
    update_account: {
      request: {
        password: string
      }
    }
    delete_account: unknown
    assign_entitlement: unknown
    unassign_entitlement: unknown
  }
}
