// Written by Keyway from connector.json; do not edit.
export type Connector = {
  credentials: {
    token?: 'token'
    oauth?: 'oauth'
  }
  settings: {
    organization: string
    base_url: string
    web_url: string
    read_profiles: boolean
  }
  capabilities: {
    validate_credentials: unknown
    list_accounts: unknown
    get_account: unknown
    list_resources: unknown
    list_entitlements: unknown
    find_entitlement_associations: unknown
    get_account_entitlement_associations: unknown
    list_expenses: unknown
    create_account: unknown
    delete_account: unknown
    assign_entitlement: unknown
    unassign_entitlement: unknown
  }
}
