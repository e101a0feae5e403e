/**
 * Runs the Keystone connector end to end: through the host, its login, its sandbox and its egress, against a
 * real server.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installSystem, missing, type RealSystem } from '../real-systems/start.ts'
import { connectorClient } from './connector-client.ts'
import { startHost, type TestHost } from './host.ts'
import { until } from './until.ts'

type Auth = { username: string; password: string }
type Seeded = Record<'groups' | 'projects' | 'roles', Record<string, string>>
type Keystone = RealSystem<Auth> & { seeded: Seeded }
type Account = { integration_specific_id: string; username: string; user_status: string }
type Named = {
  integration_specific_id: string
  integration_specific_resource_id: string
  entitlement_type: string
}
type Resource = { integration_specific_id: string; label: string; extra_data: object }
type Association = {
  account_id: string
  integration_specific_entitlement_id: string
  integration_specific_resource_id: string
}

/** The server creates and fills its database first: half a minute on an idle machine. */
const START_MS = 300_000
/**
 * Each request reads and writes a whole list there, which takes a fifth of a second, or more on a busy
 * machine.
 */
const LONG_MS = 300_000

const tools = missing('apt-get', 'dpkg')
const installed = tools === null ? await installSystem<Auth>('keystone') : { why: tools }
const why = 'why' in installed ? installed.why : null

/**
 * Page sizes, and the expected number of pages. The server has no paging, so each page costs the whole list:
 * pages of one and of seven take more than a minute and only run with `LONG=1`.
 */
const PAGE_SIZES: [size: number | undefined, count: number][] = [
  ...(process.env['LONG']
    ? ([
        [1, 251],
        [7, 36],
      ] as [number, number][])
    : []),
  [40, 7],
  [100, 3],
  [undefined, 1],
]

describe.skipIf(why !== null)(`the Keystone connector${why ? ` (${why})` : ''}`, () => {
  let system: Keystone
  let host: TestHost
  let token: string

  beforeAll(async () => {
    if ('why' in installed) throw new Error(installed.why)
    system = (await installed.system.start()) as Keystone
    host = await startHost({
      env: { KEYWAY_PRIVATE_EGRESS: `keystone=${new URL(system.baseUrl).host}` },
    })
    const scope = { project: { name: 'admin', domain: { id: 'default' } } }
    token = (await logIn('admin', 'admin-secret', scope)).headers.get('x-subject-token') ?? ''
  }, START_MS)
  afterAll(async () => {
    await host?.stop()
    await system?.stop()
  })

  /** Calls the server directly, to check the effect of a call. */
  const logIn = (name: string, password: string, scope?: object) =>
    fetch(`${system.baseUrl}/auth/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        auth: {
          identity: {
            methods: ['password'],
            password: { user: { name, password, domain: { id: 'default' } } },
          },
          ...(scope ? { scope } : {}),
        },
      }),
    })
  const keystone = (path: string, method = 'GET', body?: object) =>
    fetch(system.baseUrl + path, {
      method,
      headers: { 'x-auth-token': token, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  const read = async <T>(path: string) => (await (await keystone(path)).json()) as T

  type Given = { basic?: Auth; settings?: object }
  const envelope = (request: object = {}, { basic, settings }: Given = {}) => ({
    auth: { basic: basic ?? { username: 'admin', password: system.auth.password } },
    settings: { base_url: system.baseUrl, ...settings },
    request,
  })
  const EFFECTIVE = { settings: { associations: 'effective' } }
  const { call, done, refused, all } = connectorClient(() => host, 'keystone', envelope)

  const someone = async (more: object = {}) =>
    (
      await done<{ id: string }>('create_account', {
        username: `u-${randomUUID()}`,
        entitlements: [],
        password: 'the-first-password',
        ...more,
      })
    ).id
  const gone = (account_id: string) => done('delete_account', { account_id })
  const grant = (account: string, type: string, id: string, resource = '') => ({
    account_integration_specific_id: account,
    resource_integration_specific_id: resource,
    resource_type: resource === '' ? '' : type.includes('DOMAIN') ? 'DOMAIN' : 'PROJECT',
    entitlement_type: type,
    entitlement_integration_specific_id: id,
  })
  const heldBy = async (account_id: string, given?: Given) =>
    (await done<Association[]>('get_account_entitlement_associations', { account_id }, given))
      .map(
        (one) =>
          `${one.integration_specific_entitlement_id} ${one.integration_specific_resource_id}`,
      )
      .sort()
  const userId = async (name: string) =>
    (await read<{ users: { id: string }[] }>(`/users?name=${name}`)).users[0]?.id ?? ''
  const everybody = () => [
    'admin',
    ...Array.from({ length: 250 }, (_, index) => `user${String(index + 1).padStart(3, '0')}`),
  ]
  const role = (name: string) => system.seeded.roles[name] as string
  const project = (name: string) => system.seeded.projects[name] as string
  const group = (name: string) => system.seeded.groups[name] as string

  test('identifies its tenant by the identity service of the cloud', async () => {
    const { services } = await read<{ services: { id: string }[] }>('/services?type=identity')
    expect(await done('validate_credentials')).toEqual({
      valid: true,
      unique_tenant_id: services[0]?.id,
    })
  })

  test.each(PAGE_SIZES)(
    'lists every account exactly once in pages of %s',
    async (size, count) => {
      const pages = await host.pages<Account>('keystone', 'list_accounts', envelope(), size)
      expect(pages).toHaveLength(count)
      if (size !== undefined) expect(Math.max(...pages.map((page) => page.length))).toBe(size)
      expect(
        pages
          .flat()
          .map((one) => one.username)
          .sort(),
      ).toEqual(everybody())
      const suspended = pages.flat().filter((one) => one.user_status === 'SUSPENDED')
      expect(suspended).toHaveLength(10)
    },
    LONG_MS,
  )

  test('logs in once for many pages', async () => {
    const logins = () =>
      host.lines.filter((line) => line.includes('/v3/auth/tokens') && line.includes('POST')).length
    await done('validate_credentials')
    const before = logins()
    await all('list_accounts', 50)
    expect(logins()).toBe(before)
  })

  test.each([5, 1000, undefined])(
    'lists all resources and entitlements, in pages of %s',
    async (size) => {
      const resources = await all<Resource>('list_resources', size)
      expect(resources.map((one) => one.label).sort()).toEqual(
        ['Default', 'admin', 'finance', 'ops', 'ops-prod', 'sales'].sort(),
      )
      expect(resources.find((one) => one.label === 'ops-prod')?.extra_data).toMatchObject({
        parent_id: project('ops'),
        path: 'ops/ops-prod',
      })
      const entitlements = await all<Named>('list_entitlements', size)
      const ids = entitlements.map(
        (one) => `${one.integration_specific_id} ${one.integration_specific_resource_id}`,
      )
      expect(new Set(ids).size).toBe(ids.length)
      // 3 groups; 4 roles in the cloud, in 1 domain and in 5 projects; the latter two inherited as well.
      expect(ids).toHaveLength(3 + 4 + 2 * 4 + 5 * 2 * 4)
      for (const id of [group('empty'), role('auditor')]) expect(ids).toContain(`${id} `)
    },
    LONG_MS,
  )

  test.each([50, 1000, undefined])(
    'lists who was granted which entitlement, in pages of %s',
    async (size) => {
      const held = await all<Association>('find_entitlement_associations', size)
      expect(new Set(held.map((one) => JSON.stringify(one))).size).toBe(held.length)
      // 50 and 25 members, one role for each of 250, and the administrator's two.
      expect(held).toHaveLength(50 + 25 + 250 + 2)
      const id = await userId('user010')
      expect(
        held
          .filter((one) => one.account_id === id)
          .map(
            (one) =>
              `${one.integration_specific_entitlement_id} ${one.integration_specific_resource_id}`,
          )
          .sort(),
      ).toEqual(await heldBy(id))
    },
    LONG_MS,
  )

  test('lists effective entitlements, through groups and implied by other roles', async () => {
    const id = await userId('user010')
    const effective = [
      `${group('engineering')} `,
      `${group('support')} `,
      `${role('auditor')} default`,
      `${role('member')} ${project('ops')}`,
      `${role('reader')} ${project('ops')}`,
      `${role('reader')} ${project('finance')}`,
      `${role('reader')} ${project('sales')}`,
    ].sort()
    expect(await heldBy(id, EFFECTIVE)).toEqual(effective)
    const held = await all<Association>('find_entitlement_associations', 200, EFFECTIVE)
    expect(new Set(held.map((one) => JSON.stringify(one))).size).toBe(held.length)
    const his = held.filter((one) => one.account_id === id)
    expect(his).toHaveLength(effective.length)
  })

  test('lists system roles that a group grants, and the roles that they imply', async () => {
    await keystone(`/system/groups/${group('empty')}/roles/${role('admin')}`, 'PUT')
    const id = await someone({
      entitlements: [{ entitlement_type: 'GROUP', integration_specific_id: group('empty') }],
    })
    const roles = ['admin', 'member', 'reader'].map((name) => `${role(name)} `)
    expect(await heldBy(id, EFFECTIVE)).toEqual([`${group('empty')} `, ...roles].sort())
    expect(await heldBy(id)).toEqual([`${group('empty')} `])
    await gone(id)
    await keystone(`/system/groups/${group('empty')}/roles/${role('admin')}`, 'DELETE')
  })

  test(
    'supports the whole life cycle of an account, and leaves the cloud as it was',
    async () => {
      const before = [await all('list_accounts', 100), await all('find_entitlement_associations')]
      const email = `${randomUUID()}@example.com`
      const id = await someone({ username: email, email })
      expect(await done('get_account', { account_id: id })).toMatchObject({
        username: email,
        email,
        user_status: 'ACTIVE',
        extra_data: { domain_id: 'default' },
      })
      expect((await logIn(email, 'the-first-password')).status).toBe(201)

      const grants = [
        grant(id, 'GROUP', group('support')),
        grant(id, 'SYSTEM_ROLE', role('reader')),
        grant(id, 'DOMAIN_ROLE', role('auditor'), 'default'),
        grant(id, 'INHERITED_DOMAIN_ROLE', `inherited:${role('auditor')}`, 'default'),
        grant(id, 'PROJECT_ROLE', role('member'), project('ops')),
        grant(id, 'INHERITED_PROJECT_ROLE', `inherited:${role('reader')}`, project('ops')),
      ]
      for (const one of grants)
        for (const _twice of [1, 2])
          expect(await done('assign_entitlement', one)).toEqual({ assigned: true })
      const wanted = grants
        .map(
          (one) =>
            `${one.entitlement_integration_specific_id} ${one.resource_integration_specific_id}`,
        )
        .sort()
      expect(await heldBy(id)).toEqual(wanted)
      const found = await all<Association>('find_entitlement_associations', 100)
      expect(found.filter((one) => one.account_id === id)).toHaveLength(grants.length)

      const changed = { id, username: `${email}.new`, description: 'changed' }
      // The answer has the fields of the request: those that the connector does not return are null, and the
      // password is not included.
      const unsaid = { username: null, email: null, description: null, default_project_id: null }
      expect(await done('update_account', { ...changed, password: 'the-second-password' })).toEqual(
        { id, ...unsaid },
      )
      expect((await logIn(email, 'the-first-password')).status).toBe(401)
      expect((await logIn(changed.username, 'the-second-password')).status).toBe(201)
      expect(
        await done('get_account', {
          account_id: id,
          custom_attributes: ['description', 'nothing'],
        }),
      ).toMatchObject({ email, custom_attributes: { description: 'changed' } })

      for (const [capability, answer, status] of [
        ['deactivate_account', { status: 'SUSPENDED', deactivated: true }, 401],
        ['activate_account', { status: 'ACTIVE', activated: true }, 201],
      ] as const) {
        for (const _twice of [1, 2])
          expect(await done(capability, { account_id: id })).toEqual(answer)
        expect((await logIn(changed.username, 'the-second-password')).status).toBe(status)
      }

      for (const one of grants)
        for (const _twice of [1, 2])
          expect(await done('unassign_entitlement', one)).toEqual({ unassigned: true })
      expect(await heldBy(id)).toEqual([])
      expect(await gone(id)).toEqual({ status: 'DELETED', deleted: true })
      for (const capability of ['delete_account', 'get_account', 'deactivate_account'])
        expect(await refused(capability, { account_id: id })).toMatchObject({
          error_code: 'not_found',
          status_code: 404,
        })
      expect([await all('list_accounts', 100), await all('find_entitlement_associations')]).toEqual(
        before,
      )
    },
    LONG_MS,
  )

  test('reports why an effective role cannot be revoked', async () => {
    const id = await userId('user010')
    for (const [one, way] of [
      [grant(id, 'PROJECT_ROLE', role('member'), project('ops')), group('engineering')],
      [grant(id, 'DOMAIN_ROLE', role('auditor'), 'default'), group('support')],
    ] as const)
      expect(await refused('unassign_entitlement', one, EFFECTIVE)).toMatchObject({
        error_code: 'unsupported_operation',
        app_error_code: 'held_in_another_way',
        message: expect.stringContaining(way),
      })
  })

  test('creates an account with all entitlements, or none', async () => {
    const entitlements = (place: string) => [
      { entitlement_type: 'GROUP', integration_specific_id: group('empty') },
      {
        entitlement_type: 'PROJECT_ROLE',
        integration_specific_id: role('reader'),
        integration_specific_resource_id: place,
      },
    ]
    const id = await someone({ entitlements: entitlements(project('sales')) })
    expect(await heldBy(id)).toHaveLength(2)
    await gone(id)
    const username = `u-${randomUUID()}`
    const wanted = { username, entitlements: entitlements('nowhere') }
    expect(await refused('create_account', wanted)).toMatchObject({ error_code: 'not_found' })
    expect(await userId(username)).toBe('')
  })

  test('does not overwrite an existing account on creation', async () => {
    const taken = { username: 'user003', password: 'a-password-of-mine', entitlements: [] }
    expect(await refused('create_account', taken)).toMatchObject({
      error_code: 'api_error',
      app_error_code: 'user_exists',
      status_code: 409,
    })
    expect((await logIn('user003', 'pw-003')).status).toBe(201)
  })

  test.each<[string, string, (id: string) => object, object]>([
    [
      'an unknown account',
      'get_account',
      () => ({ account_id: 'no' }),
      { error_code: 'not_found' },
    ],
    [
      'an account named ..',
      'delete_account',
      () => ({ account_id: '..' }),
      { error_code: 'bad_request' },
    ],
    [
      'an entitlement that the user does not have',
      'get_account_entitlement_associations',
      () => ({ account_id: 'no' }),
      { error_code: 'not_found', status_code: 404 },
    ],
    [
      'a role for an unknown user',
      'assign_entitlement',
      () => grant('no', 'PROJECT_ROLE', role('reader'), project('ops')),
      { error_code: 'not_found' },
    ],
    [
      'an unknown role',
      'unassign_entitlement',
      (id) => grant(id, 'PROJECT_ROLE', 'no', project('ops')),
      { error_code: 'not_found' },
    ],
    [
      'an unknown project',
      'unassign_entitlement',
      (id) => grant(id, 'PROJECT_ROLE', role('reader'), 'no'),
      { error_code: 'not_found' },
    ],
    [
      'an unknown group',
      'unassign_entitlement',
      (id) => grant(id, 'GROUP', 'no'),
      { error_code: 'not_found' },
    ],
    [
      'an unknown type of entitlement',
      'assign_entitlement',
      (id) => grant(id, 'TAG', 'x'),
      { error_code: 'bad_request', raised_by: 'ConnectorError' },
    ],
    ['an empty update', 'update_account', (id) => ({ id }), { error_code: 'bad_request' }],
  ])('reports %s with its error code', async (_what, capability, request, expected) => {
    expect(await refused(capability, request(await userId('user001')))).toMatchObject(expected)
  })

  test('distinguishes a wrong password from missing permission', async () => {
    for (const basic of [
      { username: 'admin', password: 'not-the-password' },
      { username: 'user025', password: 'pw-025' },
    ])
      expect(await refused('validate_credentials', {}, { basic })).toMatchObject({
        error_code: 'unauthenticated',
        status_code: 401,
      })
    const other = { basic: { username: 'user001', password: 'pw-001' } }
    const settings = { project: 'finance' }
    for (const [capability, words] of [
      ['validate_credentials', 'role admin'],
      ['list_accounts', 'not authorized'],
    ] as const)
      expect(await refused(capability, {}, { ...other, settings })).toMatchObject({
        error_code: 'permission_denied',
        status_code: 403,
        message: expect.stringContaining(words),
      })
  })

  test('neither deactivates, deletes nor demotes the user that it signs in as', async () => {
    const basic = { username: `u-${randomUUID()}`, password: 'the-first-password' }
    const id = await someone(basic)
    const admin = grant(id, 'PROJECT_ROLE', role('admin'), project('ops'))
    await done('assign_entitlement', admin)
    await done('assign_entitlement', grant(id, 'PROJECT_ROLE', role('admin'), project('sales')))
    const given = { basic, settings: { project: 'ops' } }
    for (const [capability, request] of [
      ['deactivate_account', { account_id: id }],
      ['delete_account', { account_id: id }],
      ['unassign_entitlement', admin],
    ] as const)
      expect(await refused(capability, request, given)).toMatchObject({
        error_code: 'unsupported_operation',
        app_error_code: 'own_account',
      })
    await done(
      'unassign_entitlement',
      grant(id, 'PROJECT_ROLE', role('admin'), project('sales')),
      given,
    )
    expect(await heldBy(id)).toEqual([`${role('admin')} ${project('ops')}`])
    // Another administrator may do so.
    await done('unassign_entitlement', admin)
    await done('deactivate_account', { account_id: id })
    await gone(id)
  })

  test('open tokens lose the permissions of a revoked role', async () => {
    const basic = { username: `u-${randomUUID()}`, password: 'the-first-password' }
    const id = await someone(basic)
    const admin = grant(id, 'PROJECT_ROLE', role('admin'), project('ops'))
    const inCloud = grant(id, 'SYSTEM_ROLE', role('admin'))
    for (const one of [admin, inCloud]) await done('assign_entitlement', one)
    for (const [scope, one] of [
      [{ project: { id: project('ops') } }, admin],
      [{ system: { all: true } }, inCloud],
    ] as const) {
      const open = (await logIn(basic.username, basic.password, scope)).headers
      const usersWith = async () =>
        (
          await fetch(`${system.baseUrl}/users?name=nobody`, {
            headers: { 'x-auth-token': open.get('x-subject-token') ?? '' },
          })
        ).status
      expect(await usersWith()).toBe(200)
      await done('unassign_entitlement', one)
      await until('the token is rejected', async () => [401, 403].includes(await usersWith()))
    }
    await gone(id)
  })

  test('logs in again after the cloud has revoked its token', async () => {
    const basic = { username: `u-${randomUUID()}`, password: 'the-first-password' }
    const id = await someone(basic)
    await done('assign_entitlement', grant(id, 'PROJECT_ROLE', role('admin'), project('ops')))
    const given = { basic, settings: { project: 'ops' } }
    await done('validate_credentials', {}, given)
    // Disabling a user revokes all its tokens.
    await done('deactivate_account', { account_id: id })
    expect(await refused('list_resources', {}, given)).toMatchObject({
      error_code: 'unauthenticated',
    })
    await done('activate_account', { account_id: id })
    // Keystone counts in seconds, and treats a token of the same second as revoked.
    await until('a new token is accepted', async () => {
      const { body } = await call('list_resources', {}, given)
      return body.is_error ? null : body
    })
    await gone(id)
  })
})
