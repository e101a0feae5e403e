// Written by Keyway from connector.json; do not edit.
export type Connector = {
  auth: 'token'
  settings: {
    base_url: string
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
    create_account: {
      request: {
        display_name?: string
        title?: string
        department?: string
        external_id?: string
      }
    }
    update_account: {
      request: {
        username?: string
        email?: string
        given_name?: string
        family_name?: string
        display_name?: string
        title?: string
        department?: string
        external_id?: string
      }
      response: {
        username?: string | null | undefined
        email?: string | null | undefined
        given_name?: string | null | undefined
        family_name?: string | null | undefined
        display_name?: string | null | undefined
        title?: string | null | undefined
        department?: string | null | undefined
        external_id?: string | null | undefined
      }
    }
    activate_account: unknown
    deactivate_account: unknown
    delete_account: unknown
    assign_entitlement: unknown
    unassign_entitlement: unknown
  }
}
