/**
 * Runs the InfluxDB connector end to end: through the host, its sandbox and its egress, against a real
 * server.
 */
import { randomUUID } from 'node:crypto'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installSystem, missing, type RealSystem } from '../real-systems/start.ts'
import { connectorClient } from './connector-client.ts'
import { failure, startHost, success, type TestHost } from './host.ts'

type Basic = { username: string; password: string }
type Account = { integration_specific_id: string; user_status: string; extra_data: object }
type Named = { integration_specific_id: string; integration_specific_resource_id: string }
type Association = {
  account_id: string
  integration_specific_entitlement_id: string
  integration_specific_resource_id: string
}

const tools = missing('apt-get', 'dpkg')
const installed = tools === null ? await installSystem<Basic>('influxdb') : { why: tools }
const why = 'why' in installed ? installed.why : null

/** Names that would end a quoted name, or be changed, if they were not escaped. */
const ODD_NAMES = [
  'a"b',
  'a\\b',
  'a\\"; DROP USER user001; --',
  '"; DROP DATABASE sales; SHOW USERS; "',
  "o'neil' WITH ALL PRIVILEGES",
  'two\nlines',
  'Zoë 🐇',
  'a/b?c#d&e=f+g%20',
  '$user',
  'line\\nfeed',
  'SELECT',
]

describe.skipIf(why !== null)(`the InfluxDB connector${why ? ` (${why})` : ''}`, () => {
  let system: RealSystem<Basic>
  let host: TestHost
  /** A relay before the server, and the addresses that were requested from it. */
  let relayUrl: string
  const asked: string[] = []
  const relay = createServer((incoming, reply) => {
    const { url = '', method, headers } = incoming
    asked.push(url)
    const to = request(new URL(url, system.baseUrl), { method, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(reply)
    })
    incoming.pipe(to)
  })

  beforeAll(async () => {
    if ('why' in installed) throw new Error(installed.why)
    system = await installed.system.start()
    await new Promise<void>((listening) => relay.listen(0, '127.0.0.1', listening))
    relayUrl = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`
    host = await startHost({
      env: {
        KEYWAY_PRIVATE_EGRESS: [system.baseUrl, relayUrl]
          .map((url) => `influxdb=${new URL(url).host}`)
          .join(' '),
      },
    })
  }, 180_000)
  afterAll(async () => {
    relay.close()
    await host?.stop()
    await system?.stop()
  })

  const envelope = (request: object = {}, basic: Basic = system.auth) => ({
    auth: { basic },
    settings: { base_url: system.baseUrl },
    request,
  })
  const { done, refused, together, all } = connectorClient(() => host, 'influxdb', envelope)

  /** Queries the server directly, to check the effect of a call. */
  const server = (q: string, { username, password }: Basic = system.auth, db = '') =>
    fetch(`${system.baseUrl}/query`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
      },
      body: new URLSearchParams({ q, db }),
    })
  const signsIn = async (username: string, password: string) =>
    (await server('SHOW DATABASES', { username, password })).status
  const users = async () => {
    const { results } = (await (await server('SHOW USERS')).json()) as {
      results: { series: { values: [string, boolean][] }[] }[]
    }
    return results[0]?.series[0]?.values ?? []
  }

  const someone = async (more: object = {}, username = `u-${randomUUID()}`) => {
    const { id } = await done<{ id: string }>('create_account', {
      username,
      entitlements: [],
      password: 'the-first-password',
      ...more,
    })
    return id
  }
  const administrator = (account: string) => ({
    account_integration_specific_id: account,
    resource_integration_specific_id: '',
    resource_type: '',
    entitlement_type: 'ADMINISTRATOR',
    entitlement_integration_specific_id: 'administrator',
  })
  const privilege = (account: string, id: string, database: string) => ({
    account_integration_specific_id: account,
    resource_integration_specific_id: database,
    resource_type: 'DATABASE',
    entitlement_type: 'PRIVILEGE',
    entitlement_integration_specific_id: id,
  })
  const words = (one: Association) =>
    `${one.integration_specific_entitlement_id} ${one.integration_specific_resource_id}`
  const heldBy = async (account_id: string) =>
    (await done<Association[]>('get_account_entitlement_associations', { account_id })).map(words)

  test('identifies its tenant by its address', async () => {
    expect(await done('validate_credentials')).toEqual({
      valid: true,
      unique_tenant_id: new URL(system.baseUrl).host,
    })
  })

  test('returns a logo', async () => {
    const { logo_url } = await done<{ logo_url: string }>('info')
    expect(logo_url).toMatch(/^data:image\/svg\+xml/)
  })

  test.each([
    [3, 11],
    [31, 1],
    [undefined, 1],
  ])('lists the administrator and all 30 users once, in pages of %s', async (size, count) => {
    const pages = await host.pages<Account>('influxdb', 'list_accounts', envelope(), size)
    expect(pages).toHaveLength(count)
    expect(pages.flat().map((one) => one.integration_specific_id)).toEqual([
      'admin',
      ...Array.from({ length: 30 }, (_, index) => `user${String(index + 1).padStart(3, '0')}`),
    ])
    expect(pages.flat()[0]).toMatchObject({
      user_status: 'ACTIVE',
      extra_data: { administrator: true },
    })
  })

  test.each([2, undefined])(
    'lists all resources and entitlements, in pages of %s',
    async (size) => {
      const databases = await all<Named>('list_resources', size)
      expect(databases.map((one) => one.integration_specific_id)).toEqual([
        'finance',
        'ops',
        'sales',
      ])
      const entitlements = await all<Named>('list_entitlements', size)
      expect(
        entitlements.map(
          (one) => `${one.integration_specific_id} ${one.integration_specific_resource_id}`,
        ),
      ).toEqual([
        'administrator ',
        ...['finance', 'ops', 'sales'].flatMap((name) => [`READ ${name}`, `WRITE ${name}`]),
      ])
    },
  )

  test.each([4, undefined])(
    'lists who has which entitlement, in pages of %s users',
    async (size) => {
      const held = await all<Association>('find_entitlement_associations', size)
      const of = (account: string) => held.filter((one) => one.account_id === account).map(words)
      expect(of('admin')).toEqual(['administrator '])
      expect(of('user001')).toEqual([])
      expect(of('user002')).toEqual(['READ sales'])
      expect(of('user010').toSorted()).toEqual([
        'READ finance',
        'READ sales',
        'WRITE finance',
        'WRITE ops',
      ])
      expect(held).toHaveLength(1 + 15 + 6 + 3 * 2)
      expect(new Set(held.map((one) => JSON.stringify(one))).size).toBe(held.length)
    },
  )

  test('supports the whole life cycle of an account', async () => {
    const id = await someone()
    expect(await done('get_account', { account_id: id })).toMatchObject({ username: id })
    for (const grant of [administrator(id), privilege(id, 'READ', 'sales')])
      for (const _twice of [1, 2])
        expect(await done('assign_entitlement', grant)).toEqual({ assigned: true })
    expect(await heldBy(id)).toEqual(['administrator ', 'READ sales'])

    expect(await done('update_account', { id, password: 'the second: ü "&+%' })).toEqual({ id })
    expect(await signsIn(id, 'the-first-password')).toBe(401)
    expect(await signsIn(id, 'the second: ü "&+%')).toBe(200)

    for (const grant of [privilege(id, 'READ', 'sales'), administrator(id)]) {
      await together('unassign_entitlement', grant)
      await together('assign_entitlement', grant)
      for (const _twice of [1, 2])
        expect(await done('unassign_entitlement', grant)).toEqual({ unassigned: true })
    }
    expect(await heldBy(id)).toEqual([])

    expect(await done('delete_account', { account_id: id })).toEqual({
      status: 'DELETED',
      deleted: true,
    })
    for (const capability of ['delete_account', 'get_account'])
      expect(await refused(capability, { account_id: id })).toMatchObject({
        error_code: 'not_found',
        app_error_code: 'user_not_found',
      })
  })

  test('granting or revoking one privilege keeps the other; both together are ALL PRIVILEGES', async () => {
    const id = await someone()
    const told = async () => (await server(`SHOW GRANTS FOR "${id}"`)).text()
    for (const [capability, name, after] of [
      ['assign_entitlement', 'READ', '"READ"'],
      ['assign_entitlement', 'WRITE', '"ALL PRIVILEGES"'],
      ['assign_entitlement', 'READ', '"ALL PRIVILEGES"'],
      ['unassign_entitlement', 'READ', '"WRITE"'],
      ['unassign_entitlement', 'WRITE', '"NO PRIVILEGES"'],
    ] as const) {
      await done(capability, privilege(id, name, 'ops'))
      expect(await told()).toContain(after)
    }
    expect(await heldBy(id)).toEqual([])
    await done('delete_account', { account_id: id })
  })

  test('keeps all of several simultaneous grants', async () => {
    const id = await someone()
    const grants = ['sales', 'finance', 'ops'].flatMap((database) => [
      privilege(id, 'READ', database),
      privilege(id, 'WRITE', database),
    ])
    await Promise.all(grants.map((grant) => done('assign_entitlement', grant)))
    expect(await heldBy(id)).toHaveLength(6)
    await done('delete_account', { account_id: id })
  })

  test('does not overwrite an existing account, not even with the same password', async () => {
    for (const password of ['another-password', 'pw-003'])
      expect(
        await refused('create_account', { username: 'user003', password, entitlements: [] }),
      ).toMatchObject({ error_code: 'api_error', app_error_code: 'user_exists' })
    expect(await signsIn('user003', 'pw-003')).toBe(200)
  })

  test('creates an account with all entitlements, or none', async () => {
    const wanted = (database: string) => ({
      entitlements: [
        { entitlement_type: 'ADMINISTRATOR', integration_specific_id: 'administrator' },
        ...['READ', 'WRITE'].map((name) => ({
          entitlement_type: 'PRIVILEGE',
          integration_specific_id: name,
          integration_specific_resource_id: database,
        })),
      ],
    })
    const id = await someone(wanted('ops'))
    expect(await heldBy(id)).toEqual(['administrator ', 'READ ops', 'WRITE ops'])
    await done('delete_account', { account_id: id })

    const username = `u-${randomUUID()}`
    expect(await refused('create_account', { username, ...wanted('nowhere') })).toMatchObject({
      error_code: 'not_found',
      app_error_code: 'database_not_found',
    })
    expect((await users()).map(([name]) => name)).not.toContain(username)
  })

  test('a user created without a password gets an unknown one', async () => {
    const id = await someone({ password: undefined })
    expect(await signsIn(id, '')).toBe(401)
    await done('update_account', { id, password: 'known-now' })
    expect(await signsIn(id, 'known-now')).toBe(200)
    await done('delete_account', { account_id: id })
  })

  test.each(ODD_NAMES)('supports a user named %j', async (name) => {
    const before = await users()
    const id = await someone({}, name)
    expect(id).toBe(name)
    expect(await users()).toEqual([...before, [name, false]])
    expect(await done('get_account', { account_id: id })).toMatchObject({ username: name })
    await done('assign_entitlement', privilege(id, 'READ', 'sales'))
    expect(await heldBy(id)).toEqual(['READ sales'])
    const held = await all<Association>('find_entitlement_associations')
    expect(held.filter((one) => one.account_id === id).map(words)).toEqual(['READ sales'])
    await done('unassign_entitlement', privilege(id, 'READ', 'sales'))
    await done('update_account', { id, password: 'another-password' })
    await done('delete_account', { account_id: id })
    expect(await users()).toEqual(before)
  })

  test.each(['a"b', "o'neil", 'x"; DROP USER user001; "', 'Zoë 🐇', 'a b'])(
    'supports a database named %j',
    async (name) => {
      const quoted = `"${name.replaceAll('"', '\\"')}"`
      await server(`CREATE DATABASE ${quoted}`)
      expect(
        (await all<Named>('list_resources')).map((one) => one.integration_specific_id),
      ).toContain(name)
      const id = await someone()
      await done('assign_entitlement', privilege(id, 'WRITE', name))
      expect(await heldBy(id)).toEqual([`WRITE ${name}`])
      await done('unassign_entitlement', privilege(id, 'WRITE', name))
      await done('delete_account', { account_id: id })
      await server(`DROP DATABASE ${quoted}`)
      expect((await users()).map(([user]) => user)).toContain('user001')
    },
  )

  test.each([
    "x'; DROP USER user001; --",
    "x' WITH ALL PRIVILEGES",
    'ends in \\',
    'two\nlines',
    'nul\0',
    'x'.repeat(73),
    '',
  ])('refuses the password %j, which InfluxQL could misread', async (password) => {
    const before = await users()
    for (const [capability, request] of [
      ['create_account', { username: 'nobody-yet', entitlements: [], password }],
      ['update_account', { id: 'user004', password }],
    ] as const) {
      const error = await refused(capability, request)
      expect(error).toMatchObject({ error_code: 'bad_request' })
      if (password !== '') expect(JSON.stringify(error)).not.toContain(JSON.stringify(password))
    }
    expect(await users()).toEqual(before)
    expect(await signsIn('user004', 'pw-004')).toBe(200)
  })

  test.each<[string, string, object, object]>([
    [
      'an unknown account',
      'get_account',
      { account_id: 'no' },
      { error_code: 'not_found', app_error_code: 'user_not_found' },
    ],
    [
      'an entitlement that the user does not have',
      'get_account_entitlement_associations',
      { account_id: 'no' },
      { error_code: 'not_found', app_error_code: 'user_not_found' },
    ],
    [
      'a privilege for an unknown user',
      'assign_entitlement',
      privilege('no', 'READ', 'sales'),
      { error_code: 'not_found', app_error_code: 'user_not_found' },
    ],
    [
      'administration for an unknown user',
      'assign_entitlement',
      administrator('no'),
      { error_code: 'not_found', app_error_code: 'user_not_found' },
    ],
    [
      'a privilege on an unknown database',
      'assign_entitlement',
      privilege('user001', 'READ', 'nowhere'),
      { error_code: 'not_found', app_error_code: 'database_not_found' },
    ],
    [
      'unassigning from an unknown user',
      'unassign_entitlement',
      privilege('no', 'READ', 'sales'),
      { error_code: 'not_found', app_error_code: 'user_not_found' },
    ],
    [
      'unassigning on an unknown database',
      'unassign_entitlement',
      privilege('user001', 'READ', 'nowhere'),
      { error_code: 'not_found', app_error_code: 'database_not_found' },
    ],
    [
      'a password for an unknown user',
      'update_account',
      { id: 'no', password: 'a-password' },
      { error_code: 'not_found', app_error_code: 'user_not_found' },
    ],
    [
      'an unknown type of entitlement',
      'assign_entitlement',
      { ...administrator('user001'), entitlement_type: 'ROLE' },
      { error_code: 'bad_request', raised_by: 'ConnectorError' },
    ],
    [
      'an unknown privilege',
      'assign_entitlement',
      privilege('user001', 'ALL', 'sales'),
      { error_code: 'bad_request', message: expect.stringContaining('READ, WRITE') },
    ],
    ['an empty update', 'update_account', { id: 'user001' }, { error_code: 'bad_request' }],
    [
      'a name with half of a character',
      'assign_entitlement',
      administrator('user\ud83d'),
      { error_code: 'invalid_value', message: expect.stringContaining('halves of characters') },
    ],
    [
      'a name with a carriage return',
      'create_account',
      { username: 'a\rb', entitlements: [] },
      { error_code: 'invalid_value' },
    ],
    [
      'a user who is created suspended',
      'create_account',
      { username: 'x', user_status: 'SUSPENDED', entitlements: [] },
      { error_code: 'bad_request' },
    ],
    [
      'no name',
      'create_account',
      { entitlements: [] },
      { error_code: 'integration_missing_parameter' },
    ],
    ...(
      [
        ['delete_account', { account_id: 'admin' }],
        ['update_account', { id: 'admin', password: 'a-password' }],
        ['unassign_entitlement', administrator('admin')],
      ] as const
    ).map(([capability, request]): [string, string, object, object] => [
      `${capability} of the user that it logs in as`,
      capability,
      request,
      { error_code: 'unsupported_operation', app_error_code: 'own_account' },
    ]),
  ])('reports %s with its error code', async (_what, capability, request, expected) => {
    expect(await refused(capability, request)).toMatchObject(expected)
  })

  test('distinguishes a wrong password from missing permission', async () => {
    for (const basic of [
      { username: 'admin', password: 'not-the-password' },
      { username: 'nobody', password: 'admin-secret' },
    ])
      for (const capability of ['validate_credentials', 'list_accounts'])
        expect(await refused(capability, {}, basic)).toMatchObject({
          error_code: 'unauthenticated',
          status_code: 401,
          raised_by: 'HTTPStatusError',
        })
    const other = { username: 'user001', password: 'pw-001' }
    for (const [capability, request] of [
      ['validate_credentials', {}],
      ['list_accounts', {}],
      ['assign_entitlement', privilege('user001', 'READ', 'sales')],
      ['unassign_entitlement', privilege('user002', 'READ', 'sales')],
    ] as const)
      expect(await refused(capability, request, other)).toMatchObject({
        error_code: 'permission_denied',
        app_error_code: 'no_administrator',
        status_code: 403,
      })
  })

  test('never returns or logs a password, and sends none in an address', async () => {
    const id = await someone({ password: 'never-told-to-anybody' })
    const other = { username: `u-${randomUUID()}`, entitlements: [] }
    for (const [capability, request] of [
      ['create_account', { ...other, password: 'never-told-to-anybody' }],
      ['get_account', { account_id: id }],
      ['list_accounts', {}],
      ['update_account', { id, password: 'never-told-to-anybody' }],
      ['update_account', { id: 'no', password: 'never-told-to-anybody' }],
    ] as const) {
      const { body } = await host.call('influxdb', capability, {
        ...envelope(request),
        settings: { base_url: relayUrl },
        include_raw_data: true,
      })
      expect(JSON.stringify(body)).not.toContain('never-told')
    }
    expect(asked.length).toBeGreaterThan(4)
    expect(decodeURIComponent(asked.join('\n'))).not.toContain('never-told')
    expect(host.lines.join('\n')).not.toContain('never-told-to-anybody')
    await done('delete_account', { account_id: id })
  })

  test('reports a server that is not InfluxDB', async () => {
    const replies: Record<string, [type: string, body: string]> = {
      '/html/query': ['text/html', '<html>Welcome</html>'],
      '/json/query': ['application/json', '{"status":"ok"}'],
      '/none/query': ['application/json', ''],
    }
    const other = createServer(({ url }, reply) => {
      const [type = 'text/plain', body = 'no such page'] = replies[url?.split('?')[0] ?? ''] ?? []
      reply.writeHead(body === 'no such page' ? 404 : 200, { 'content-type': type }).end(body)
    })
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening))
    const { port } = other.address() as AddressInfo
    const alone = await startHost({
      env: { KEYWAY_PRIVATE_EGRESS: `influxdb=127.0.0.1:${port}` },
    })
    try {
      for (const [path, error_code] of [
        ['/html', 'invalid_response'],
        ['/json', 'invalid_response'],
        ['/none', 'invalid_response'],
        ['/elsewhere', 'not_found'],
      ] as const) {
        const answer = await alone.call('influxdb', 'validate_credentials', {
          ...envelope(),
          settings: { base_url: `http://127.0.0.1:${port}${path}` },
        })
        expect(failure(answer)).toMatchObject({ error_code })
      }
    } finally {
      await alone.stop()
      other.close()
    }
  })
})

describe.skipIf(why !== null)(`InfluxDB with other settings${why ? ` (${why})` : ''}`, () => {
  /** Runs a test with a separate server with these variables, and a host that may reach it. */
  async function withServer(
    env: Record<string, string>,
    test: (given: { system: RealSystem<Basic>; ask: TestHost['call'] }) => Promise<void>,
  ) {
    const own = await installSystem<Basic>('influxdb')
    if ('why' in own) throw new Error(own.why)
    const system = await own.system.start(env)
    const host = await startHost({
      env: { KEYWAY_PRIVATE_EGRESS: `influxdb=${new URL(system.baseUrl).host}` },
    })
    try {
      await test({ system, ask: host.call })
    } finally {
      await host.stop()
      await system.stop()
    }
  }
  const as = ({ auth, baseUrl }: RealSystem<Basic>) => ({
    auth: { basic: auth },
    settings: { base_url: baseUrl },
    request: {},
  })

  test('refuses a server with authentication disabled', async () => {
    await withServer({ AUTH: 'false' }, async ({ system, ask }) => {
      expect(failure(await ask('influxdb', 'validate_credentials', as(system)))).toMatchObject({
        error_code: 'permission_denied',
        app_error_code: 'auth_disabled',
        message: expect.stringContaining('auth-enabled = true'),
      })
    })
  })

  test('refuses a list that the server has truncated', async () => {
    await withServer({ MAX_ROWS: '20' }, async ({ system, ask }) => {
      expect(failure(await ask('influxdb', 'list_accounts', as(system)))).toMatchObject({
        error_code: 'invalid_response',
        app_error_code: 'max_row_limit',
      })
    })
  })

  test('reports that the server became unavailable between two pages', async () => {
    await withServer({}, async ({ system, ask }) => {
      const first = await ask('influxdb', 'list_accounts', {
        ...as(system),
        page: { token: null, size: 10 },
      })
      expect(success<Account[]>(first.body)).toHaveLength(10)
      await system.stop()
      const second = await ask('influxdb', 'list_accounts', {
        ...as(system),
        page: first.body.page,
      })
      expect(failure(second)).toMatchObject({ error_code: 'connection_rejected' })
      // The caller may retry with the same page once the server is back.
      expect(second.body.page).toEqual(first.body.page)
    })
  })
})
