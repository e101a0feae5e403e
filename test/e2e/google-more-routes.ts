/** Routes of the fake Google: licences, admin roles, reports. */
import { found, notFound, page, type Reply, type Routes, refuse } from './google-stand-in.ts'
import { CUSTOMER, type RoleAssignment, type Tenant, userOf } from './google-tenant.ts'

const DIRECTORY = '/admin/directory/v1'
const LICENSING = '/apps/licensing/v1'

export function licenseRoutes(tenant: Tenant): Routes {
  const shown = (productId: string, userId: string, skuId: string) => ({
    productId,
    userId,
    skuId,
    skuName: `SKU ${skuId}`,
  })
  const at = `${LICENSING}/product/*/sku/*/user`
  return {
    [`GET ${LICENSING}/product/*/users`]: (asked) => {
      const [product = ''] = asked.at
      if (asked.query.get('customerId') !== CUSTOMER) return refuse(400, 'invalid', 'customerId')
      const held = [...(tenant.licenses.get(product) ?? [])]
      return page(
        held.map(([user, sku]) => shown(product, user, sku)),
        'items',
        asked,
        1000,
      )
    },
    [`POST ${at}`]: ({ at: [product = '', sku = ''], body }) => {
      const held = tenant.licenses.get(product)
      const user = userOf(tenant, String(body['userId']))
      if (!held) return notFound('productId')
      if (!user) return refuse(400, 'invalid', 'Invalid user')
      if (held.has(user.primaryEmail))
        return refuse(
          412,
          'conditionNotMet',
          'User already has a license for the specified product',
        )
      held.set(user.primaryEmail, sku)
      return found(shown(product, user.primaryEmail, sku))
    },
    ...Object.fromEntries(
      (['GET', 'PATCH', 'DELETE'] as const).map(
        (method) =>
          [
            `${method} ${at}/*`,
            ({ at: [product = '', sku = '', user = ''], body }): Reply => {
              const held = tenant.licenses.get(product)
              if (held?.get(user) !== sku) return notFound('license')
              if (method === 'PATCH') held.set(user, String(body['skuId']))
              if (method === 'DELETE') held.delete(user)
              return method === 'DELETE'
                ? found({})
                : found(shown(product, user, held.get(user) ?? ''))
            },
          ] satisfies [string, Routes[string]],
      ),
    ),
  }
}

export function roleRoutes(tenant: Tenant): Routes {
  const { assignments, roles } = tenant
  const at = `${DIRECTORY}/customer/my_customer/roleassignments`
  return {
    [`GET ${DIRECTORY}/customer/my_customer/roles`]: (asked) => page(roles, 'items', asked, 100),
    [`GET ${at}`]: (asked) => {
      const user = asked.query.get('userKey')
      return page(
        assignments.filter((one) => user === null || one.assignedTo === user),
        'items',
        asked,
        200,
      )
    },
    [`POST ${at}`]: ({ body }) => {
      if (!roles.some((one) => one.roleId === body['roleId'])) return notFound('roleId')
      if (String(body['orgUnitId'] ?? '').startsWith('id:'))
        return refuse(400, 'invalid', 'orgUnitId')
      const made = {
        assigneeType: 'user',
        ...body,
        roleAssignmentId: `a${++tenant.last}`,
      } as RoleAssignment
      assignments.push(made)
      return found(made)
    },
    [`DELETE ${at}/*`]: ({ at: [id] }) => {
      const index = assignments.findIndex((one) => one.roleAssignmentId === id)
      if (index < 0) return notFound('roleAssignmentId')
      assignments.splice(index, 1)
      return { status: 204 }
    },
  }
}

export function reportRoutes(): Routes {
  const entry = (n: number, application: string, events: object[]) => ({
    kind: 'admin#reports#activity',
    id: {
      time: `2026-11-20T10:00:${String(n).padStart(2, '0')}.000Z`,
      uniqueQualifier: String(-n),
      applicationName: application,
      customerId: CUSTOMER,
    },
    actor: { callerType: 'USER', email: 'user001@acme.example', profileId: '10001' },
    ipAddress: '192.0.2.1',
    events,
  })
  const login = [...Array(30).keys()].map((n) =>
    entry(n, 'login', [
      {
        type: 'login',
        name: n % 5 ? 'login_success' : 'login_failure',
        parameters: [
          { name: 'is_suspicious', boolValue: false },
          { name: 'login_challenge_method', multiValue: ['password', 'none'] },
        ],
      },
    ]),
  )
  const admin = [
    entry(1, 'admin', [
      {
        type: 'USER_SETTINGS',
        name: 'CREATE_USER',
        parameters: [{ name: 'USER_EMAIL', value: 'user002@acme.example' }],
      },
      {
        type: 'USER_SETTINGS',
        name: 'CHANGE_PASSWORD',
        parameters: [{ name: 'USER_EMAIL', value: 'user002@acme.example' }],
      },
    ]),
  ]
  /** A page token is only valid with the start time that it was created with. */
  const begun = new Set<string>()
  return Object.fromEntries(
    Object.entries({ login, admin }).map(
      ([application, items]) =>
        [
          `GET /admin/reports/v1/activity/users/all/applications/${application}`,
          (asked) => {
            const start = asked.query.get('startTime') ?? ''
            if (asked.query.has('pageToken') && !begun.has(start))
              return refuse(400, 'invalid', 'pageToken')
            begun.add(start)
            return page(items, 'items', asked, 1000)
          },
        ] satisfies [string, Routes[string]],
    ),
  )
}
