// Written by Keyway from connector.json; do not edit.
export type Connector = {
  auth: 'token'
  settings: {
    base_url: string
    associations: 'direct' | 'effective'
  }
  capabilities: {
    validate_credentials: unknown
    list_accounts: unknown
    get_account: unknown
    list_resources: unknown
    list_entitlements: unknown
    find_entitlement_associations: unknown
    get_account_entitlement_associations: unknown
    get_last_activity: unknown
    create_account: {
      request: {
        password?: string
        must_change_password?: boolean
        auth_source_id?: number
      }
    }
    update_account: {
      request: {
        username?: string
        email?: string
        given_name?: string
        family_name?: string
        password?: string
        must_change_password?: boolean
      }
      response: {
        username?: string | null | undefined
        email?: string | null | undefined
        given_name?: string | null | undefined
        family_name?: string | null | undefined
        must_change_password?: boolean | null | undefined
      }
    }
    activate_account: unknown
    deactivate_account: unknown
    delete_account: unknown
    assign_entitlement: unknown
    unassign_entitlement: unknown
  }
}
