// Written by Keyway from connector.json; do not edit.
export type Connector = {
  auth: 'basic'
  settings: {
    url: string
    database: string
  }
  statements: {
    server: {
      reads: true
      parameters: []
      names: never
    }
    people: {
      reads: true
      parameters: [string | null, number | null]
      names: never
    }
    person: {
      reads: true
      parameters: [string | null]
      names: never
    }
    person_of_login: {
      reads: true
      parameters: [string | null]
      names: never
    }
    add_person: {
      reads: false
      parameters: [string | null, string | null, string | null, string | null, boolean | null]
      names: never
    }
    change_person: {
      reads: false
      parameters: [string | null, string | null, string | null, string | null]
      names: never
    }
    switch_person: {
      reads: false
      parameters: [string | null, boolean | null]
      names: never
    }
    remove_person: {
      reads: false
      parameters: [string | null]
      names: never
    }
    groups: {
      reads: true
      parameters: [string | null, number | null]
      names: never
    }
    members: {
      reads: true
      parameters: [string | null, string | null, number | null]
      names: never
    }
    are_known: {
      reads: true
      parameters: [string | null, string | null]
      names: never
    }
    join_group: {
      reads: false
      parameters: [string | null, string | null]
      names: never
    }
    join_group_by_login: {
      reads: false
      parameters: [string | null, string | null]
      names: never
    }
    leave_group: {
      reads: false
      parameters: [string | null, string | null]
      names: never
    }
  }
  capabilities: {
    validate_credentials: unknown
    list_accounts: unknown
    get_account: unknown
    list_entitlements: unknown
    find_entitlement_associations: unknown
    create_account: unknown
    update_account: {
      request: {
        email?: string
        given_name?: string
        family_name?: string
      }
      response: {
        email?: string | null | undefined
        given_name?: string | null | undefined
        family_name?: string | null | undefined
      }
    }
    activate_account: unknown
    deactivate_account: unknown
    delete_account: unknown
    assign_entitlement: unknown
    unassign_entitlement: unknown
  }
}
