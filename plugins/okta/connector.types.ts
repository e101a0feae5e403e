// Written by Keyway from connector.json; do not edit.
export type Connector = {
  credentials: {
    token?: 'token'
    oauth?: 'oauth'
  }
  settings: {
    base_url: string
  }
  capabilities: {
    validate_credentials: unknown
    list_custom_attributes_schema: unknown
    list_accounts: unknown
    get_account: unknown
    get_last_activity: unknown
    list_activity_records: unknown
    list_resources: unknown
    list_entitlements: unknown
    find_entitlement_associations: unknown
    get_account_entitlement_associations: unknown
    create_account: {
      request: {
        password?: string
        display_name?: string
        title?: string
        department?: string
        organization?: string
        user_type?: string
        employee_number?: string
        manager_id?: string
        mobile_phone?: string
        second_email?: string
      }
    }
    update_account: {
      request: {
        password?: string
        username?: string
        email?: string
        given_name?: string
        family_name?: string
        display_name?: string
        title?: string
        department?: string
        organization?: string
        user_type?: string
        employee_number?: string
        manager_id?: string
        mobile_phone?: string
        second_email?: string
      }
      response: {
        username?: string | null | undefined
        email?: string | null | undefined
        given_name?: string | null | undefined
        family_name?: string | null | undefined
        display_name?: string | null | undefined
        title?: string | null | undefined
        department?: string | null | undefined
        organization?: string | null | undefined
        user_type?: string | null | undefined
        employee_number?: string | null | undefined
        manager_id?: string | null | undefined
        mobile_phone?: string | null | undefined
        second_email?: string | null | undefined
      }
    }
    activate_account: unknown
    deactivate_account: unknown
    delete_account: unknown
    assign_entitlement: unknown
    unassign_entitlement: unknown
    list_applications: unknown
    get_application: unknown
    list_applications_accounts: unknown
    get_application_account: unknown
    list_applications_resources: unknown
    list_applications_entitlements: unknown
    list_applications_entitlement_associations: unknown
    list_applications_activity_records: unknown
    assign_application: unknown
    unassign_application: unknown
    assign_application_entitlement: unknown
    unassign_application_entitlement: unknown
  }
}
