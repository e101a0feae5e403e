// Written by Keyway from connector.json; do not edit.
export type Connector = {
  auth: 'basic'
  settings: {
    url: string
    base_dn: string
  }
  capabilities: {
    validate_credentials: unknown
    list_accounts: unknown
    assign_entitlement: unknown
  }
}
