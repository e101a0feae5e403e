// Written by Keyway from connector.json; do not edit.
export type Connector = {
  auth: 'basic'
  settings: {
    base_url: string
    user_domain: string
    project: string
    project_domain: string
    associations: 'direct' | 'effective'
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
        password?: string
        domain_id?: string
        description?: string
        default_project_id?: string
      }
    }
    update_account: {
      request: {
        username?: string
        email?: string
        description?: string
        default_project_id?: string
        password?: string
      }
      response: {
        username?: string | null | undefined
        email?: string | null | undefined
        description?: string | null | undefined
        default_project_id?: string | null | undefined
      }
    }
    activate_account: unknown
    deactivate_account: unknown
    delete_account: unknown
    assign_entitlement: unknown
    unassign_entitlement: unknown
  }
}
