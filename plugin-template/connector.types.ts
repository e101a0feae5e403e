// Written by Keyway from connector.json; do not edit.
export type Connector = {
  auth: 'token'
  settings: {
    subdomain: string
  }
  capabilities: {
    validate_credentials: unknown
    list_accounts: unknown
    list_entitlements: unknown
    assign_entitlement: unknown
  }
}
