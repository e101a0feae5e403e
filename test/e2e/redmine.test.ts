/**
 * Runs the Redmine connector end to end: through the host, its sandbox and its egress, against a real
 * Redmine.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installSystem, missing, type RealSystem } from '../real-systems/start.ts'
import { connectorClient } from './connector-client.ts'
import { startHost, success, type TestHost } from './host.ts'
import { unpaced, unpacedId } from './unpaced.ts'

type Token = { token: string }
type Account = { integration_specific_id: string; username: string; user_status: string }
type Named = { integration_specific_id: string; label: string }
type Association = {
  account_id: string
  integration_specific_entitlement_id: string
  integration_specific_resource_id: string
}

const tools = missing('apt-get', 'dpkg')
const installed = tools === null ? await installSystem<Token>('redmine') : { why: tools }
const why = 'why' in installed ? installed.why : null
const id = unpacedId('redmine')

describe.skipIf(why !== null)(`the Redmine connector${why ? ` (${why})` : ''}`, () => {
  let system: RealSystem<Token>
  let host: TestHost
  let projects: Record<string, string>
  let groups: Record<string, string>
  let roles: Record<string, string>

  beforeAll(async () => {
    if ('why' in installed) throw new Error(installed.why)
    system = await installed.system.start()
    host = await startHost(await unpaced('redmine', new URL(system.baseUrl).host))
    const named = async (name: string) => {
      const { [name]: all } = (await read(`/${name}.json`)) as {
        [list: string]: { id: number; name: string }[]
      }
      return Object.fromEntries((all ?? []).map((one) => [one.name, String(one.id)]))
    }
    projects = await named('projects')
    groups = await named('groups')
    roles = await named('roles')
  })
  afterAll(async () => {
    await host?.stop()
    await system?.stop()
  })

  const envelope = (
    request: object = {},
    more: { token?: string; associations?: string } = {},
  ) => ({
    auth: { token: { token: more.token ?? system.auth.token } },
    settings: { base_url: system.baseUrl, associations: more.associations ?? 'direct' },
    request,
  })
  const { done, refused, together } = connectorClient(() => host, id, envelope)
  const pages = <T>(capability: string, size: number) =>
    host.pages<T>(id, capability, envelope(), size)

  /** Calls Redmine directly, to check the effect of a call. */
  const redmine = (path: string, init?: RequestInit) =>
    fetch(system.baseUrl + path, {
      ...init,
      headers: { 'x-redmine-api-key': system.auth.token, 'content-type': 'application/json' },
    })
  const read = async (path: string) => (await redmine(path)).json()
  const signsIn = async (login: string, password: string) =>
    (
      await fetch(`${system.baseUrl}/users/current.json`, {
        headers: { authorization: `Basic ${btoa(`${login}:${password}`)}` },
      })
    ).status
  const one = async (username: string) => {
    const { users } = (await read(`/users.json?status=&name=${username}`)) as {
      users: { id: number }[]
    }
    return String(users[0]?.id)
  }

  const PASSWORD = 'the-first-password'
  const someone = async (more: object = {}, username = `u-${randomUUID()}`) => {
    const { id: made } = await done<{ id: string }>('create_account', {
      username,
      email: `${username}@example.com`,
      given_name: 'Some',
      family_name: 'One',
      password: PASSWORD,
      entitlements: [],
      ...more,
    })
    return made
  }
  const grant = (account: string, type: string, entitlement?: string, resource = '') => ({
    account_integration_specific_id: account,
    resource_integration_specific_id: resource,
    resource_type: resource === '' ? '' : 'PROJECT',
    entitlement_type: type,
    entitlement_integration_specific_id: entitlement ?? 'administrator',
  })
  const heldBy = async (account_id: string, more = {}) =>
    (await done<Association[]>('get_account_entitlement_associations', { account_id }, more)).map(
      (it) =>
        `${it.integration_specific_entitlement_id} ${it.integration_specific_resource_id}`.trim(),
    )

  test('identifies its tenant by its address', async () => {
    expect(await done('validate_credentials')).toEqual({
      valid: true,
      unique_tenant_id: new URL(system.baseUrl).host,
    })
  })

  test('lists every account exactly once, and which are locked', async () => {
    const found = await pages<Account>('list_accounts', 60)
    const accounts = found.flat()
    expect(new Set(accounts.map((it) => it.integration_specific_id)).size).toBe(accounts.length)
    expect(accounts).toHaveLength(152)
    expect(Math.max(...found.map((page) => page.length))).toBeLessThanOrEqual(60)
    const locked = accounts.filter((it) => it.user_status === 'SUSPENDED')
    expect(locked.map((it) => it.username)).toEqual(
      [25, 50, 75, 100, 125, 150].map((number) => `user${String(number).padStart(3, '0')}`),
    )
  })

  test('misses no account and no role while earlier users are locked or lose a role', async () => {
    const { accounts, held } = { accounts: 'list_accounts', held: 'find_entitlement_associations' }
    const before = async (capability: string) => (await pages<object>(capability, 100)).flat()
    const expected = { accounts: await before(accounts), held: await before(held) }
    const someUsers = await Promise.all(['user001', 'user002', 'user003', 'user004'].map(one))
    const memberships = await Promise.all(
      someUsers.map(async (user) => {
        const { user: whole } = (await read(`/users/${user}.json?include=memberships`)) as {
          user: { memberships: { id: number; project: { id: number }; roles: { id: number }[] }[] }
        }
        return whole.memberships[0]
      }),
    )
    /** Reads all pages, and calls `act` once `after` items were read. */
    const during = async (capability: string, size: number, after: number, act: () => unknown) => {
      const items: object[] = []
      let acted = false
      for (let page: object | null = { size }; page !== null; ) {
        const { body } = await host.call(id, capability, { ...envelope(), page })
        items.push(...success<object[]>(body))
        page = body.page?.token == null ? null : { token: body.page.token, size }
        if (!acted && items.length >= after) {
          acted = true
          await act()
        }
      }
      return items.map((it) => JSON.stringify(it))
    }
    const lock = (status: number) => () =>
      Promise.all(
        someUsers.map((user) =>
          redmine(`/users/${user}.json`, {
            method: 'PUT',
            body: JSON.stringify({ user: { status } }),
          }),
        ),
      )
    const listed = await during(accounts, 30, 30, lock(3))
    await lock(1)()
    for (const account of expected.accounts) expect(listed).toContain(JSON.stringify(account))

    const found = await during(held, 30, 90, () =>
      Promise.all(
        memberships.map((it) => redmine(`/memberships/${it?.id}.json`, { method: 'DELETE' })),
      ),
    )
    for (const [at, it] of memberships.entries())
      await redmine(`/projects/${it?.project.id}/memberships.json`, {
        method: 'POST',
        body: JSON.stringify({
          membership: {
            user_id: Number(someUsers[at]),
            role_ids: it?.roles.map((role) => role.id),
          },
        }),
      })
    const stayed = expected.held.filter((it) => !someUsers.includes((it as Association).account_id))
    for (const association of stayed) expect(found).toContain(JSON.stringify(association))
    expect(new Set(found).size).toBe(found.length)
  })

  test('lists all resources and entitlements, including those of closed projects', async () => {
    const child = projects['Ops production']
    await redmine(`/projects/${child}/close.json`, { method: 'PUT' })
    const resources = (await pages<Named>('list_resources', 3)).flat()
    await redmine(`/projects/${child}/reopen.json`, { method: 'PUT' })
    expect(resources.map((it) => it.label).sort()).toEqual([
      'Finance',
      'Ops',
      'Ops production',
      'Sales',
    ])
    const entitlements = (await pages<Named>('list_entitlements', 5)).flat()
    expect(entitlements).toHaveLength(1 + 3 + 4 * 3)
    expect(entitlements.map((it) => it.label)).toContain('Developer in Ops production')
  })

  test('lists who has which entitlement', async () => {
    const held = (await pages<Association>('find_entitlement_associations', 100)).flat()
    expect(new Set(held.map((it) => JSON.stringify(it))).size).toBe(held.length)
    // Two administrators, every 5th user in one group, every 10th in another, and one role per user.
    expect(held).toHaveLength(2 + 30 + 15 + 150)
    const user = await one('user010')
    const own = held
      .filter((it) => it.account_id === user)
      .map(
        (it) => `${it.integration_specific_entitlement_id} ${it.integration_specific_resource_id}`,
      )
    expect(own.map((text) => text.trim()).sort()).toEqual((await heldBy(user)).sort())
    expect(own).toHaveLength(3)
  })

  test('reports the last sign-in of accounts', async () => {
    const [first = '', second = ''] = await Promise.all([one('user001'), one('user002')])
    expect(await done('get_last_activity', { account_ids: [first, second] })).toEqual([
      { account_id: second, event_type: 'last_login', happened_at: '2026-01-02T03:04:05Z' },
    ])
  })

  test('supports the whole life cycle of an account', async () => {
    const username = `u-${randomUUID()}`
    const user = await someone({}, username)
    expect(await signsIn(username, PASSWORD)).toBe(200)

    const grants = [
      grant(user, 'GROUP', groups['engineering']),
      grant(user, 'PROJECT_ROLE', roles['Reporter'], projects['Ops']),
      grant(user, 'PROJECT_ROLE', roles['Manager'], projects['Sales']),
      grant(user, 'ADMINISTRATOR'),
    ]
    for (const each of grants)
      for (const _twice of [1, 2])
        expect(await done('assign_entitlement', each)).toEqual({ assigned: true })
    expect(await heldBy(user)).toHaveLength(4)
    // The group is a developer of the project, and so are its members.
    expect(await heldBy(user, { associations: 'effective' })).toHaveLength(5)

    await done('update_account', { id: user, password: 'the-second-password' })
    expect(await signsIn(username, PASSWORD)).toBe(401)
    expect(await signsIn(username, 'the-second-password')).toBe(200)

    for (const _twice of [1, 2])
      expect(await done('deactivate_account', { account_id: user })).toEqual({
        status: 'SUSPENDED',
        deactivated: true,
      })
    expect(await signsIn(username, 'the-second-password')).toBe(401)
    for (const _twice of [1, 2])
      expect(await done('activate_account', { account_id: user })).toEqual({
        status: 'ACTIVE',
        activated: true,
      })
    expect(await signsIn(username, 'the-second-password')).toBe(200)

    for (const each of grants.toReversed()) {
      await together('unassign_entitlement', each)
      await together('assign_entitlement', each)
      for (const _twice of [1, 2])
        expect(await done('unassign_entitlement', each)).toEqual({ unassigned: true })
    }
    await together('deactivate_account', { account_id: user })
    await together('activate_account', { account_id: user })
    expect(await heldBy(user, { associations: 'effective' })).toEqual([])

    expect(await done('delete_account', { account_id: user })).toMatchObject({ deleted: true })
    for (const capability of ['delete_account', 'get_account', 'deactivate_account'])
      expect(await refused(capability, { account_id: user })).toMatchObject({
        error_code: 'not_found',
        status_code: 404,
      })
  })

  test('a role that a group grants as well can only be removed after the group', async () => {
    const user = await someone()
    const group = grant(user, 'GROUP', groups['engineering'])
    const role = grant(user, 'PROJECT_ROLE', roles['Developer'], projects['Ops'])
    await done('assign_entitlement', group)
    // Only inherited: there is no direct role to remove, and with effective associations the removal is
    // refused.
    expect(await done('unassign_entitlement', role)).toEqual({ unassigned: true })
    const refusal = {
      error_code: 'unsupported_operation',
      app_error_code: 'held_in_another_way',
    }
    const effective = { associations: 'effective' }
    expect(await refused('unassign_entitlement', role, effective)).toMatchObject(refusal)
    await done('assign_entitlement', role)
    expect(await refused('unassign_entitlement', role)).toMatchObject(refusal)
    await done('unassign_entitlement', group)
    await done('unassign_entitlement', role)
    expect(await heldBy(user, effective)).toEqual([])
    await done('delete_account', { account_id: user })
  })

  test('keeps all of several simultaneous grants', async () => {
    const user = await someone()
    const grants = ['Manager', 'Developer', 'Reporter'].map((name) =>
      grant(user, 'PROJECT_ROLE', roles[name], projects['Finance']),
    )
    await Promise.all(grants.map((each) => done('assign_entitlement', each)))
    expect(await heldBy(user)).toHaveLength(3)
    await Promise.all(grants.map((each) => done('unassign_entitlement', each)))
    expect(await heldBy(user)).toEqual([])
    await done('delete_account', { account_id: user })
  })

  test('creates an account with all entitlements, or none', async () => {
    const wanted = (group?: string) => ({
      entitlements: [
        {
          entitlement_type: 'PROJECT_ROLE',
          integration_specific_id: roles['Manager'],
          integration_specific_resource_id: projects['Finance'],
        },
        { entitlement_type: 'GROUP', integration_specific_id: group },
      ],
    })
    const user = await someone(wanted(groups['empty']))
    expect(await heldBy(user)).toHaveLength(2)
    await done('delete_account', { account_id: user })

    const username = `u-${randomUUID()}`
    const nobody = {
      username,
      email: `${username}@example.com`,
      given_name: 'No',
      family_name: 'Body',
    }
    expect(await refused('create_account', { ...nobody, ...wanted('9999') })).toMatchObject({
      error_code: 'not_found',
    })
    expect(await one(username)).toBe('undefined')
  })

  test('reports which name is taken', async () => {
    const names = { given_name: 'A', family_name: 'B', entitlements: [] }
    for (const [taken, app_error_code] of [
      [{ username: 'USER003', email: 'free@example.com' }, 'login_taken'],
      [{ username: 'free', email: 'User003@example.com' }, 'mail_taken'],
    ] as const)
      expect(await refused('create_account', { ...names, ...taken })).toMatchObject({
        error_code: 'api_error',
        status_code: 422,
        app_error_code,
      })

    const user = await someone()
    for (const [taken, app_error_code] of [
      [{ username: 'USER003' }, 'login_taken'],
      [{ email: 'User003@example.com' }, 'mail_taken'],
    ] as const)
      expect(await refused('update_account', { id: user, ...taken })).toMatchObject({
        error_code: 'api_error',
        status_code: 422,
        app_error_code,
      })
    // A user's own name is not taken: another field is wrong.
    const { username, email } = await done<{ username: string; email: string }>('get_account', {
      account_id: user,
    })
    expect(
      await refused('update_account', { id: user, username, email, given_name: '' }),
    ).toMatchObject({ error_code: 'bad_request', status_code: 422, app_error_code: null })
    await done('delete_account', { account_id: user })
  })

  test('reports that a project is closed or archived', async () => {
    const user = await someone()
    const child = projects['Ops production']
    const change = (what: string) => redmine(`/projects/${child}/${what}.json`, { method: 'PUT' })
    const role = (name: string) => grant(user, 'PROJECT_ROLE', roles[name], child)
    await done('assign_entitlement', role('Developer'))
    for (const [way, back] of [
      ['close', 'reopen'],
      ['archive', 'unarchive'],
    ] as const) {
      await change(way)
      for (const [capability, request] of [
        ['assign_entitlement', role('Manager')],
        ['unassign_entitlement', role('Developer')],
      ] as const)
        expect(await refused(capability, request)).toMatchObject({
          error_code: 'unsupported_operation',
          app_error_code: 'project_closed',
          message: expect.stringContaining('Reopen it'),
        })
      await change(back)
    }
    await done('unassign_entitlement', role('Developer'))
    expect(await heldBy(user)).toEqual([])
    await done('delete_account', { account_id: user })
  })

  test.each<[string, string, () => object, object]>([
    [
      'an unknown account',
      'get_account',
      () => ({ account_id: '99999' }),
      { error_code: 'not_found' },
    ],
    [
      'a reserved word of the API',
      'get_account',
      () => ({ account_id: 'current' }),
      { error_code: 'not_found' },
    ],
    [
      'a group for an unknown user',
      'assign_entitlement',
      () => grant('99999', 'GROUP', groups['empty']),
      { error_code: 'not_found' },
    ],
    [
      'an unknown group',
      'assign_entitlement',
      () => grant('9', 'GROUP', '99999'),
      { error_code: 'not_found' },
    ],
    [
      'an unknown role',
      'assign_entitlement',
      () => grant('9', 'PROJECT_ROLE', '99', projects['Ops']),
      { error_code: 'not_found' },
    ],
    [
      'a role in an unknown project',
      'unassign_entitlement',
      () => grant('9', 'PROJECT_ROLE', roles['Manager'], '99'),
      { error_code: 'not_found' },
    ],
    [
      'a group id with a leading zero',
      'assign_entitlement',
      () => grant('9', 'GROUP', `0${groups['empty']}`),
      { error_code: 'bad_request' },
    ],
    [
      'a project id with a leading zero',
      'assign_entitlement',
      () => grant('9', 'PROJECT_ROLE', roles['Manager'], `0${projects['Ops']}`),
      { error_code: 'bad_request' },
    ],
    [
      'an unknown type of entitlement',
      'assign_entitlement',
      () => grant('9', 'TAG', 'x'),
      { error_code: 'bad_request' },
    ],
    [
      'a password that is too short',
      'create_account',
      () => ({
        email: 'short@example.com',
        given_name: 'A',
        family_name: 'B',
        password: 'short',
        entitlements: [],
      }),
      { error_code: 'bad_request', status_code: 422 },
    ],
    ['an empty update', 'update_account', () => ({ id: '9' }), { error_code: 'bad_request' }],
  ])('reports %s with its error code', async (_what, capability, request, expected) => {
    expect(await refused(capability, request())).toMatchObject(expected)
  })

  test('distinguishes an unknown key from missing permission, and protects its own account', async () => {
    const unknown = { token: 'f'.repeat(40) }
    for (const capability of ['validate_credentials', 'list_accounts'])
      expect(await refused(capability, {}, unknown)).toMatchObject({
        error_code: 'unauthenticated',
        status_code: 401,
      })
    const other = { token: '0001ab0123456789abcdef0123456789abcdef01' }
    for (const capability of ['validate_credentials', 'list_accounts'])
      expect(await refused(capability, {}, other)).toMatchObject({
        error_code: 'permission_denied',
        message: expect.stringContaining('administrator'),
      })
    // With such a key, Redmine returns the user, but not whether it is locked.
    expect(await refused('get_account', { account_id: await one('user002') }, other)).toMatchObject(
      {
        error_code: 'permission_denied',
        message: expect.stringContaining('Only an administrator may'),
      },
    )
    const own = await one('keyway')
    for (const capability of ['deactivate_account', 'delete_account'])
      expect(await refused(capability, { account_id: own })).toMatchObject({
        app_error_code: 'own_account',
      })
    expect(await refused('unassign_entitlement', grant(own, 'ADMINISTRATOR'))).toMatchObject({
      app_error_code: 'own_account',
    })
    // Redmine itself accepts each of these as the same user.
    for (const written of [`0${own}`, `00${own}`])
      for (const [capability, request] of [
        ['get_account', { account_id: written }],
        ['deactivate_account', { account_id: written }],
        ['delete_account', { account_id: written }],
        ['unassign_entitlement', grant(written, 'ADMINISTRATOR')],
      ] as const)
        expect(await refused(capability, request)).toMatchObject({ error_code: 'not_found' })
    expect(await done('validate_credentials')).toMatchObject({ valid: true })
  })

  test('never returns or logs a password or the key of another user', async () => {
    const user = await someone({ password: 'never-told-to-anybody' })
    const { user: whole } = (await read(`/users/${user}.json`)) as { user: { api_key: string } }
    for (const [capability, request] of [
      ['get_account', { account_id: user }],
      ['get_account_entitlement_associations', { account_id: user }],
      ['update_account', { id: user, password: 'never-told-to-anybody' }],
    ] as const) {
      const { body } = await host.call(id, capability, {
        ...envelope(request),
        include_raw_data: true,
      })
      success(body)
      for (const secret of ['never-told-to-anybody', whole.api_key])
        expect(JSON.stringify(body)).not.toContain(secret)
    }
    const told = host.lines.join('\n')
    for (const secret of ['never-told-to-anybody', whole.api_key])
      expect(told).not.toContain(secret)
    await done('delete_account', { account_id: user })
  })
})
