/** Routes of the fake Google: the customer, its users, its groups. */
import { licenseRoutes, reportRoutes, roleRoutes } from './google-more-routes.ts'
import { found, notFound, page, type Reply, type Routes, refuse } from './google-stand-in.ts'
import { CUSTOMER, type Role, type Tenant, type User, userOf } from './google-tenant.ts'

const DIRECTORY = '/admin/directory/v1'

export const routesOf = (tenant: Tenant): Routes => ({
  ...customerRoutes(tenant),
  ...userRoutes(tenant),
  ...groupRoutes(tenant),
  ...licenseRoutes(tenant),
  ...roleRoutes(tenant),
  ...reportRoutes(),
})

function customerRoutes({ units, transfers }: Tenant): Routes {
  return {
    [`GET ${DIRECTORY}/customers/my_customer`]: () =>
      found({ id: CUSTOMER, customerDomain: 'acme.example' }),
    [`GET ${DIRECTORY}/customer/my_customer/orgunits`]: ({ query }) =>
      found({
        organizationUnits: query.get('type') === 'allIncludingParent' ? units : units.slice(1),
      }),
    [`GET ${DIRECTORY}/customer/my_customer/schemas`]: () =>
      found({
        schemas: [
          {
            schemaName: 'Badge',
            fields: [
              { fieldName: 'number', displayName: 'Badge' },
              { fieldName: 'doors', multiValued: true },
            ],
          },
        ],
      }),
    'GET /admin/datatransfer/v1/applications': ({ query }) =>
      query.get('customerId') === 'my_customer'
        ? found({
            applications: [
              {
                id: '55656082996',
                name: 'Drive and Docs',
                transferParams: [{ key: 'PRIVACY_LEVEL', value: ['PRIVATE', 'SHARED'] }],
              },
              { id: '435070579839', name: 'Currents' },
            ],
          })
        : refuse(400, 'invalid', 'customerId'),
    'POST /admin/datatransfer/v1/transfers': ({ body }) => {
      transfers.push(body)
      return found({ id: 't1', overallTransferStatusCode: 'new', ...body })
    },
  }
}

function userRoutes(tenant: Tenant): Routes {
  const { users, passwords } = tenant
  const taken = (email: unknown, but?: string) =>
    [...users.values()].some((one) => one.primaryEmail === email && one.id !== but)
  const duplicate = () => refuse(409, 'duplicate', 'Entity already exists.')
  return {
    [`GET ${DIRECTORY}/users`]: (asked) => {
      const sorted = [...users.values()].sort((a, b) => (a.primaryEmail < b.primaryEmail ? -1 : 1))
      const shown =
        asked.query.get('projection') === 'custom'
          ? sorted
          : sorted.map(({ customSchemas: _, ...rest }) => rest)
      return page(shown, 'users', asked, 500)
    },
    [`POST ${DIRECTORY}/users`]: ({ body: { password, ...body } }) => {
      if (taken(body['primaryEmail'])) return duplicate()
      if (typeof password !== 'string' || password.length < 8)
        return refuse(400, 'invalid', 'Invalid Password')
      const id = String(++tenant.last)
      const user = {
        orgUnitPath: '/',
        ...body,
        id,
        lastLoginTime: '1970-01-01T00:00:00.000Z',
      } as unknown as User
      users.set(id, user)
      passwords.set(id, password)
      return found(user)
    },
    [`GET ${DIRECTORY}/users/*`]: ({ at: [key] }) => {
      const user = userOf(tenant, key)
      return user ? found(user) : notFound('userKey')
    },
    [`PATCH ${DIRECTORY}/users/*`]: ({ at: [key], body: { password, ...body } }) => {
      const user = userOf(tenant, key)
      if (!user) return notFound('userKey')
      if (taken(body['primaryEmail'], user.id)) return duplicate()
      if (!tenant.units.some((one) => one.orgUnitPath === (body['orgUnitPath'] ?? '/')))
        return refuse(400, 'invalid', 'Invalid Input: INVALID_OU_ID')
      if (password !== undefined) passwords.set(user.id, password)
      return found(Object.assign(user, body))
    },
    [`DELETE ${DIRECTORY}/users/*`]: ({ at: [key] }) => {
      const user = userOf(tenant, key)
      if (!user) return notFound('userKey')
      users.delete(user.id)
      for (const { members } of tenant.groups.values()) members.delete(user.id)
      for (const held of tenant.licenses.values()) held.delete(user.primaryEmail)
      return { status: 204 }
    },
  }
}

function groupRoutes(tenant: Tenant): Routes {
  const { groups } = tenant
  const shown = (id: string, name: string) => ({
    id,
    name,
    email: `${id}@acme.example`,
    description: '',
  })
  const member = (id: string, role: Role) => ({
    id,
    role,
    type: 'USER',
    email: userOf(tenant, id)?.primaryEmail,
  })
  return {
    [`GET ${DIRECTORY}/groups`]: (asked) => {
      const user = asked.query.get('userKey')
      const of = [...groups].filter(([, one]) => user === null || one.members.has(user))
      return page(
        of.map(([id, { name }]) => shown(id, name)),
        'groups',
        asked,
        200,
      )
    },
    [`GET ${DIRECTORY}/groups/*`]: ({ at: [id = ''] }) =>
      groups.has(id) ? found(shown(id, groups.get(id)?.name ?? '')) : notFound('groupKey'),
    [`GET ${DIRECTORY}/groups/*/members`]: (asked) => {
      const group = groups.get(asked.at[0] ?? '')
      if (!group) return notFound('groupKey')
      const others = [
        { id: 'g1', role: 'MEMBER', type: 'GROUP' },
        { role: 'MEMBER', type: 'CUSTOMER' },
      ]
      const list = [...[...group.members].map(([id, role]) => member(id, role)), ...others]
      return page(group.members.size > 0 ? list : [], 'members', asked, 200)
    },
    [`POST ${DIRECTORY}/groups/*/members`]: ({ at: [id = ''], body }) => {
      const group = groups.get(id)
      const user = userOf(tenant, String(body['id']))
      if (!group) return notFound('groupKey')
      if (!user) return notFound('memberKey')
      if (group.members.has(user.id)) return refuse(409, 'duplicate', 'Member already exists.')
      group.members.set(user.id, body['role'] as Role)
      return found(member(user.id, body['role'] as Role))
    },
    ...Object.fromEntries(
      (['GET', 'PATCH', 'DELETE'] as const).map(
        (method) =>
          [
            `${method} ${DIRECTORY}/groups/*/members/*`,
            ({ at: [id = '', key = ''], body }): Reply => {
              const group = groups.get(id)
              if (!group) return notFound('groupKey')
              if (!group.members.has(key)) return notFound('memberKey')
              if (method === 'PATCH') group.members.set(key, body['role'] as Role)
              if (method === 'DELETE')
                return group.members.delete(key) ? { status: 204 } : notFound('')
              return found(member(key, group.members.get(key) as Role))
            },
          ] satisfies [string, Routes[string]],
      ),
    ),
  }
}
