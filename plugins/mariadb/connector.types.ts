// Written by Keyway from connector.json; do not edit.
export type Connector = {
  auth: 'basic'
  settings: {
    url: string
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
      parameters: [string | null, string | null, number | null]
      names: never
    }
    account: {
      reads: true
      parameters: [string | null, string | null]
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
    databases: {
      reads: true
      parameters: [string | null, number | null]
      names: never
    }
    database: {
      reads: true
      parameters: [string | null]
      names: never
    }
    held: {
      reads: true
      parameters: [
        boolean | null,
        string | null,
        string | null,
        string | null,
        string | null,
        string | null,
        number | null,
        number | null,
      ]
      names: never
    }
    holds: {
      reads: true
      parameters: [
        boolean | null,
        string | null,
        string | null,
        string | null,
        string | null,
        string | null,
      ]
      names: never
    }
    patterns: {
      reads: true
      parameters: [string | null, string | null, string | null]
      names: never
    }
    sessions: {
      reads: true
      parameters: [readonly string[] | null]
      names: never
    }
    sees_sessions: {
      reads: true
      parameters: [string | null]
      names: never
    }
    sessions_of: {
      reads: true
      parameters: [string | null, string | null]
      names: never
    }
    create: {
      reads: false
      parameters: []
      names: 'user' | 'host' | 'password'
    }
    set_password: {
      reads: false
      parameters: []
      names: 'user' | 'host' | 'plugin' | 'password'
    }
    lock: {
      reads: false
      parameters: []
      names: 'user' | 'host'
    }
    unlock: {
      reads: false
      parameters: []
      names: 'user' | 'host'
    }
    finish: {
      reads: false
      parameters: []
      names: 'user' | 'host'
    }
    finish_locked: {
      reads: false
      parameters: []
      names: 'user' | 'host'
    }
    end_session: {
      reads: false
      parameters: [number | null]
      names: never
    }
    end_sessions: {
      reads: false
      parameters: []
      names: 'user' | 'host'
    }
    drop: {
      reads: false
      parameters: []
      names: 'user' | 'host'
    }
    grant_role: {
      reads: false
      parameters: []
      names: 'role' | 'user' | 'host'
    }
    revoke_role: {
      reads: false
      parameters: []
      names: 'role' | 'user' | 'host'
    }
    grant_select: {
      reads: false
      parameters: []
      names: 'database' | 'user' | 'host'
    }
    grant_insert: {
      reads: false
      parameters: []
      names: 'database' | 'user' | 'host'
    }
    grant_update: {
      reads: false
      parameters: []
      names: 'database' | 'user' | 'host'
    }
    grant_delete: {
      reads: false
      parameters: []
      names: 'database' | 'user' | 'host'
    }
    grant_execute: {
      reads: false
      parameters: []
      names: 'database' | 'user' | 'host'
    }
    grant_create: {
      reads: false
      parameters: []
      names: 'database' | 'user' | 'host'
    }
    grant_alter: {
      reads: false
      parameters: []
      names: 'database' | 'user' | 'host'
    }
    grant_drop: {
      reads: false
      parameters: []
      names: 'database' | 'user' | 'host'
    }
    grant_index: {
      reads: false
      parameters: []
      names: 'database' | 'user' | 'host'
    }
    revoke_select: {
      reads: false
      parameters: []
      names: 'database' | 'user' | 'host'
    }
    revoke_insert: {
      reads: false
      parameters: []
      names: 'database' | 'user' | 'host'
    }
    revoke_update: {
      reads: false
      parameters: []
      names: 'database' | 'user' | 'host'
    }
    revoke_delete: {
      reads: false
      parameters: []
      names: 'database' | 'user' | 'host'
    }
    revoke_execute: {
      reads: false
      parameters: []
      names: 'database' | 'user' | 'host'
    }
    revoke_create: {
      reads: false
      parameters: []
      names: 'database' | 'user' | 'host'
    }
    revoke_alter: {
      reads: false
      parameters: []
      names: 'database' | 'user' | 'host'
    }
    revoke_drop: {
      reads: false
      parameters: []
      names: 'database' | 'user' | 'host'
    }
    revoke_index: {
      reads: false
      parameters: []
      names: 'database' | 'user' | 'host'
    }
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
        password: string
        host?: string
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
