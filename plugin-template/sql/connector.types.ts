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
    grant_role: {
      reads: false
      parameters: []
      names: 'role' | 'member'
    }
  }
  capabilities: {
    validate_credentials: unknown
    list_accounts: unknown
    assign_entitlement: unknown
  }
}
