/** The data of the fake Google: a Workspace of 250 users. */
export type Role = 'MEMBER' | 'MANAGER' | 'OWNER'
export type User = {
  id: string
  primaryEmail: string
  orgUnitPath: string
  [field: string]: unknown
}
export type RoleAssignment = {
  roleAssignmentId: string
  roleId: string
  assignedTo: string
  assigneeType: string
  scopeType: string
  orgUnitId?: string
}

export const CUSTOMER = 'C0123abcd'

/** The state, for tests to inspect. */
export type Tenant = ReturnType<typeof createTenant>

export function createTenant() {
  const users = new Map<string, User>()
  const passwords = new Map<string, unknown>()
  for (let n = 1; n <= 250; n++) {
    const name = `user${String(n).padStart(3, '0')}`
    users.set(`1000${n}`, {
      id: `1000${n}`,
      primaryEmail: `${name}@acme.example`,
      name: { givenName: 'User', familyName: String(n), fullName: `User ${n}` },
      suspended: n % 25 === 0,
      archived: n === 13,
      customerId: CUSTOMER,
      orgUnitPath: n % 2 ? '/' : '/Sales',
      lastLoginTime: n % 10 ? '2026-11-01T10:00:00.000Z' : '1970-01-01T00:00:00.000Z',
      ...(n === 7
        ? { organizations: [{ title: 'Chef', department: 'Kitchen', primary: true }] }
        : {}),
      ...(n === 8 ? { customSchemas: { Badge: { number: 8 } } } : {}),
    })
  }
  const groups = new Map<string, { name: string; members: Map<string, Role> }>(
    [...Array(12).keys()].map((n) => [
      `g${n}`,
      {
        name: `Group ${n}`,
        // One group has all users, some have none.
        members: new Map(
          [...users.keys()]
            .filter((_id, index) => n === 0 || (n % 3 !== 1 && index % (n * 7) === 0))
            .map((id, index) => [id, index === 0 ? 'OWNER' : 'MEMBER']),
        ),
      },
    ]),
  )
  const units = [
    { orgUnitId: 'id:root', orgUnitPath: '/', name: 'acme' },
    { orgUnitId: 'id:sales', orgUnitPath: '/Sales', name: 'Sales', parentOrgUnitPath: '/' },
    { orgUnitId: 'id:emea', orgUnitPath: '/Sales/EMEA', name: 'EMEA', parentOrgUnitPath: '/Sales' },
  ]
  /** SKUs by product and e-mail address. */
  const licenses = new Map<string, Map<string, string>>([
    [
      'Google-Apps',
      new Map([...users.values()].slice(0, 120).map((one) => [one.primaryEmail, '1010020028'])),
    ],
  ])
  const roles = [
    { roleId: '9001', roleName: '_SEED_ADMIN_ROLE', isSuperAdminRole: true },
    { roleId: '9002', roleName: '_HELP_DESK_ADMIN_ROLE', roleDescription: 'Help desk' },
  ]
  const assignments: RoleAssignment[] = [
    {
      roleAssignmentId: 'a1',
      roleId: '9001',
      assignedTo: '10001',
      assigneeType: 'user',
      scopeType: 'CUSTOMER',
    },
    {
      roleAssignmentId: 'a2',
      roleId: '9002',
      assignedTo: '10002',
      assigneeType: 'user',
      scopeType: 'ORG_UNIT',
      orgUnitId: 'sales',
    },
    {
      roleAssignmentId: 'a3',
      roleId: '9002',
      assignedTo: 'g0',
      assigneeType: 'group',
      scopeType: 'CUSTOMER',
    },
  ]
  const transfers: unknown[] = []
  return { users, passwords, groups, units, licenses, roles, assignments, transfers, last: 5000 }
}

/** A user by id or e-mail address. */
export const userOf = ({ users }: Tenant, key = ''): User | undefined =>
  users.get(key) ?? [...users.values()].find((one) => one.primaryEmail === key.toLowerCase())
