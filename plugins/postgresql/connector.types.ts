// Written by Keyway from connector.json; do not edit.
export type Connector = {
  auth: 'basic'
  settings: {
    url: string
    database: string
    associations: 'direct' | 'effective'
    page_size: number
  }
  statements: {
    server: {
      reads: true
      parameters: []
      names: never
    }
    accounts: {
      reads: true
      parameters: [string | null, number | null]
      names: never
    }
    account: {
      reads: true
      parameters: [string | null]
      names: never
    }
    roles: {
      reads: true
      parameters: [string | null, number | null]
      names: never
    }
    role: {
      reads: true
      parameters: [string | null]
      names: never
    }
    roles_named: {
      reads: true
      parameters: [readonly string[] | null]
      names: never
    }
    memberships: {
      reads: true
      parameters: [boolean | null, string | null, string | null, number | null]
      names: never
    }
    memberships_of: {
      reads: true
      parameters: [boolean | null, string | null]
      names: never
    }
    usable: {
      reads: true
      parameters: [string | null, string | null]
      names: never
    }
    grantors: {
      reads: true
      parameters: [string | null, string | null]
      names: never
    }
    sessions: {
      reads: true
      parameters: [readonly string[] | null]
      names: never
    }
    create: {
      reads: false
      parameters: []
      names: 'account'
    }
    create_with_password: {
      reads: false
      parameters: []
      names: 'account' | 'password'
    }
    set_password: {
      reads: false
      parameters: []
      names: 'account' | 'password'
    }
    enable: {
      reads: false
      parameters: []
      names: 'account' | 'limit'
    }
    extend: {
      reads: false
      parameters: []
      names: 'account'
    }
    disable: {
      reads: false
      parameters: []
      names: 'account'
    }
    comment: {
      reads: false
      parameters: []
      names: 'account' | 'comment'
    }
    end_sessions: {
      reads: false
      parameters: [number | null]
      names: never
    }
    drop: {
      reads: false
      parameters: []
      names: 'account'
    }
    grant: {
      reads: false
      parameters: []
      names: 'role' | 'account'
    }
    grant_inherited: {
      reads: false
      parameters: []
      names: 'role' | 'account'
    }
    grant_settable: {
      reads: false
      parameters: []
      names: 'role' | 'account'
    }
    revoke: {
      reads: false
      parameters: []
      names: 'role' | 'account'
    }
    revoke_of: {
      reads: false
      parameters: []
      names: 'role' | 'account' | 'grantor'
    }
  }
  capabilities: {
    validate_credentials: unknown
    list_accounts: unknown
    get_account: unknown
    list_entitlements: unknown
    find_entitlement_associations: unknown
    get_account_entitlement_associations: unknown
    get_last_activity: unknown
    create_account: {
      request: {
        password?: string
      }
    }
    update_account: {
      request: {
        password?: string
      }
    }
    activate_account: unknown
    deactivate_account: unknown
    delete_account: unknown
    assign_entitlement: unknown
    unassign_entitlement: unknown
  }
}
