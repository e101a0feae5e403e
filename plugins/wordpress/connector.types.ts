// Written by Keyway from connector.json; do not edit.
export type Connector = {
  auth: 'basic'
  settings: {
    base_url: string
    permalinks: 'pretty' | 'plain'
    heir?: string
  }
  capabilities: {
    validate_credentials: unknown
    list_accounts: unknown
    get_account: unknown
    list_entitlements: unknown
    find_entitlement_associations: unknown
    get_account_entitlement_associations: unknown
    create_account: {
      request: {
        password?: string
        display_name?: string
      }
    }
    update_account: {
      request: {
        email?: string
        given_name?: string
        family_name?: string
        display_name?: string
        password?: string
      }
      response: {
        email?: string | null | undefined
        given_name?: string | null | undefined
        family_name?: string | null | undefined
        display_name?: string | null | undefined
      }
    }
    delete_account: unknown
    assign_entitlement: unknown
    unassign_entitlement: unknown
  }
}
