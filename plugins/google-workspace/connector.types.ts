// Written by Keyway from connector.json; do not edit.
export type Connector = {
  auth: 'service_account'
  settings: {
    license_products: string
    downgrade_to?: string
    admin_roles: boolean
    activity_days?: number
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
    get_last_activity: unknown
    list_activity_records: unknown
    create_account: {
      request: {
        password?: string
        org_unit_path?: string
        title?: string
        department?: string
      }
    }
    update_account: {
      request: {
        email?: string
        given_name?: string
        family_name?: string
        org_unit_path?: string
        title?: string
        department?: string
        password?: string
      }
      response: {
        email?: string | null | undefined
        given_name?: string | null | undefined
        family_name?: string | null | undefined
        org_unit_path?: string | null | undefined
        title?: string | null | undefined
        department?: string | null | undefined
      }
    }
    activate_account: unknown
    deactivate_account: unknown
    delete_account: unknown
    assign_entitlement: unknown
    unassign_entitlement: unknown
    transfer_data: unknown
    downgrade_license: unknown
  }
}
