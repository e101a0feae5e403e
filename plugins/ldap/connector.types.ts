// Written by Keyway from connector.json; do not edit.
export type Connector = {
  auth: 'basic'
  settings: {
    url: string
    people_dn: string
    groups_dn: string
    person_class: string
    login_attribute: string
    disabled_by: 'pwdAccountLockedTime' | 'nsAccountLock'
    policy_dn?: string
    memberships: 'groups' | 'people'
    associations: 'direct' | 'effective'
    empty_group_member?: string
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
        display_name?: string
        title?: string
      }
    }
    update_account: {
      request: {
        email?: string
        given_name?: string
        family_name?: string
        display_name?: string
        title?: string
        password?: string
      }
      response: {
        email?: string | null | undefined
        given_name?: string | null | undefined
        family_name?: string | null | undefined
        display_name?: string | null | undefined
        title?: string | null | undefined
      }
    }
    activate_account: unknown
    deactivate_account: unknown
    delete_account: unknown
    assign_entitlement: unknown
    unassign_entitlement: unknown
  }
}
