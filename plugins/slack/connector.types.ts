// Written by Keyway from connector.json; do not edit.
export type Connector = {
  credentials: {
    token?: 'token'
    oauth?: 'oauth'
  }
  settings: {
    private_channels: boolean
    user_groups: boolean
    base_url: string
    web_url: string
  }
  capabilities: {
    validate_credentials: unknown
    list_custom_attributes_schema: unknown
    list_accounts: unknown
    get_account: unknown
    list_resources: unknown
    list_entitlements: unknown
    find_entitlement_associations: unknown
    get_account_entitlement_associations: unknown
    assign_entitlement: unknown
    unassign_entitlement: unknown
  }
}
