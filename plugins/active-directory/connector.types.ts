// Written by Keyway from connector.json; do not edit.
export type Connector = {
  auth: 'basic'
  settings: {
    url: string
    base_dn: string
    people_dn?: string
    groups_dn?: string
    new_accounts_dn?: string
    disabled_dn?: string
    upn_suffix?: string
    associations: 'direct' | 'effective'
    page_size: number
  }
  capabilities: {
    validate_credentials: unknown
    list_custom_attributes_schema: unknown
    list_accounts: unknown
    get_account: unknown
    list_entitlements: unknown
    find_entitlement_associations: unknown
    get_account_entitlement_associations: unknown
    get_last_activity: unknown
    create_account: {
      request: {
        password?: string
        must_change_password?: boolean
        display_name?: string
        title?: string
        department?: string
      }
    }
    update_account: {
      request: {
        email?: string
        given_name?: string
        family_name?: string
        display_name?: string
        title?: string
        department?: string
        password?: string
        must_change_password?: boolean
      }
      response: {
        email?: string | null | undefined
        given_name?: string | null | undefined
        family_name?: string | null | undefined
        display_name?: string | null | undefined
        title?: string | null | undefined
        department?: string | null | undefined
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
