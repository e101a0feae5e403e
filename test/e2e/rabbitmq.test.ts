/**
 * Runs the RabbitMQ connector end to end: through the host, its sandbox and its egress, against a real
 * broker.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installSystem, missing, type RealSystem } from '../real-systems/start.ts'
import { consumer } from './amqp.ts'
import { connectorClient } from './connector-client.ts'
import { failure, startHost, success, type TestHost } from './host.ts'
import { until } from './until.ts'

type Basic = { username: string; password: string }
type Account = { integration_specific_id: string; user_status: string; extra_data: object }
type Named = { integration_specific_id: string; integration_specific_resource_id: string }
type Association = {
  account_id: string
  integration_specific_entitlement_id: string
  integration_specific_resource_id: string
}

const tools = missing('apt-get', 'dpkg')
const installed = tools === null ? await installSystem<Basic>('rabbitmq') : { why: tools }
const why = 'why' in installed ? installed.why : null

describe.skipIf(why !== null)(`the RabbitMQ connector${why ? ` (${why})` : ''}`, () => {
  let system: RealSystem<Basic>
  let host: TestHost

  beforeAll(async () => {
    if ('why' in installed) throw new Error(installed.why)
    system = await installed.system.start()
    host = await startHost({
      env: { KEYWAY_PRIVATE_EGRESS: `rabbitmq=${new URL(system.baseUrl).host}` },
    })
  })
  afterAll(async () => {
    await host?.stop()
    await system?.stop()
  })

  const envelope = (request: object = {}, basic: Basic = system.auth) => ({
    auth: { basic },
    settings: { base_url: system.baseUrl },
    request,
  })
  const { call, done, refused, together, all } = connectorClient(() => host, 'rabbitmq', envelope)

  /** Calls the broker directly, to check the effect of a call. */
  const broker = (path: string, { username, password }: Basic = system.auth, init?: RequestInit) =>
    fetch(system.baseUrl + path, {
      ...init,
      headers: {
        authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
        'content-type': 'application/json',
      },
    })
  const read = async (path: string) => (await broker(path)).json()
  const write = (path: string, body: object) =>
    broker(path, undefined, { method: 'PUT', body: JSON.stringify(body) })
  const signsIn = async (username: string, password: string) =>
    (await broker('/whoami', { username, password })).status

  const someone = async (more: object = {}, username = `u-${randomUUID()}`) => {
    const { id } = await done<{ id: string }>('create_account', {
      username,
      entitlements: [],
      password: 'the-first-password',
      ...more,
    })
    return id
  }
  const tag = (account: string, id: string) => ({
    account_integration_specific_id: account,
    resource_integration_specific_id: '',
    resource_type: '',
    entitlement_type: 'TAG',
    entitlement_integration_specific_id: id,
  })
  const permission = (account: string, id: string, vhost: string) => ({
    account_integration_specific_id: account,
    resource_integration_specific_id: vhost,
    resource_type: 'VHOST',
    entitlement_type: 'PERMISSION',
    entitlement_integration_specific_id: id,
  })
  const heldBy = async (account_id: string) =>
    (await done<Association[]>('get_account_entitlement_associations', { account_id })).map(
      (one) => `${one.integration_specific_entitlement_id} ${one.integration_specific_resource_id}`,
    )

  test('identifies its tenant by the name of the cluster', async () => {
    const { name } = (await read('/cluster-name')) as { name: string }
    expect(await done('validate_credentials')).toEqual({ valid: true, unique_tenant_id: name })
  })

  test.each([
    [3, 84],
    [7, 36],
    [250, 2],
    [251, 1],
    [501, 1],
    [1000, 1],
    [undefined, 1],
  ])(
    'lists the administrator and all 250 users exactly once in pages of %s',
    async (size, count) => {
      const pages = await host.pages<Account>('rabbitmq', 'list_accounts', envelope(), size)
      expect(pages).toHaveLength(count)
      if (size !== undefined)
        expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(size)
      const ids = pages.flat().map((one) => one.integration_specific_id)
      expect(ids).toEqual([
        'admin',
        ...Array.from({ length: 250 }, (_, index) => `user${String(index + 1).padStart(3, '0')}`),
      ])
    },
  )

  test('misses and repeats no user when users are added and deleted during a listing', async () => {
    const first = await host.call('rabbitmq', 'list_accounts', {
      ...envelope(),
      page: { token: null, size: 100 },
    })
    const before = await someone({}, 'aaa')
    await done('delete_account', { account_id: await someone({}, 'zzz') })
    const found = success<Account[]>(first.body)
    let { page } = first.body
    while (page?.token) {
      const { body } = await host.call('rabbitmq', 'list_accounts', { ...envelope(), page })
      found.push(...success<Account[]>(body))
      page = body.page
    }
    await done('delete_account', { account_id: before })
    const ids = found.map((one) => one.integration_specific_id)
    expect(ids).toHaveLength(251)
    expect(new Set(ids).size).toBe(251)
  })

  test.each([2, 500, undefined])(
    'lists all resources and entitlements, in pages of %s',
    async (size) => {
      const vhosts = await all<Named>('list_resources', size)
      expect(vhosts.map((one) => one.integration_specific_id)).toEqual([
        '/',
        'finance',
        'ops',
        'sales',
      ])
      const entitlements = await all<Named>('list_entitlements', size)
      const ids = entitlements.map(
        (one) => `${one.integration_specific_id} ${one.integration_specific_resource_id}`,
      )
      expect(new Set(ids).size).toBe(ids.length)
      expect(ids).toHaveLength(5 + 4 * 3)
      expect(ids).toContain('administrator ')
      expect(ids).toContain('configure /')
    },
  )

  test.each([50, 1000, undefined])(
    'lists who has which entitlement, in pages of %s',
    async (size) => {
      const held = await all<Association>('find_entitlement_associations', size)
      expect(new Set(held.map((one) => JSON.stringify(one))).size).toBe(held.length)
      const of = (account: string) =>
        held
          .filter((one) => one.account_id === account)
          .map(
            (one) =>
              `${one.integration_specific_entitlement_id} ${one.integration_specific_resource_id}`,
          )
      expect(of('user001')).toEqual(['management ', 'read finance', 'write finance'])
      expect(of('user010')).toEqual([
        'monitoring ',
        'policymaker ',
        'read finance',
        'write finance',
      ])
      // 225 with one tag, 25 with two, two permissions for each; the administrator has all of them.
      expect(held).toHaveLength(225 + 25 * 2 + 250 * 2 + 1 + 4 * 3)
    },
  )

  test('supports the whole life cycle of an account', async () => {
    const id = await someone()
    const accounts = await all<Account>('list_accounts')
    expect(accounts.filter((one) => one.integration_specific_id === id)).toHaveLength(1)

    for (const grant of [tag(id, 'management'), permission(id, 'read', '/')])
      for (const _twice of [1, 2])
        expect(await done('assign_entitlement', grant)).toEqual({ assigned: true })
    expect(await heldBy(id)).toEqual(['management ', 'read /'])
    expect(await signsIn(id, 'the-first-password')).toBe(200)
    const held = await all<Association>('find_entitlement_associations', 100)
    expect(held.filter((one) => one.account_id === id)).toHaveLength(2)

    expect(await done('update_account', { id, password: 'the-second-password' })).toEqual({ id })
    expect(await signsIn(id, 'the-first-password')).toBe(401)
    expect(await signsIn(id, 'the-second-password')).toBe(200)

    for (const grant of [permission(id, 'read', '/'), tag(id, 'management')]) {
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
        status_code: 404,
        raised_by: 'HTTPStatusError',
      })
  })

  test('granting or revoking one permission keeps the other two; revoking the last deletes the record', async () => {
    const id = await someone()
    await write(`/permissions/sales/${id}`, { configure: '^mine-', write: '', read: '^$' })
    await done('assign_entitlement', permission(id, 'read', 'sales'))
    await done('assign_entitlement', permission(id, 'configure', 'sales'))
    expect(await read(`/permissions/sales/${id}`)).toMatchObject({
      configure: '^mine-',
      write: '',
      read: '.*',
    })
    await done('unassign_entitlement', permission(id, 'configure', 'sales'))
    expect(await heldBy(id)).toEqual(['read sales'])
    await done('unassign_entitlement', permission(id, 'read', 'sales'))
    expect((await broker(`/permissions/sales/${id}`)).status).toBe(404)
    await done('delete_account', { account_id: id })
  })

  test('keeps all of several simultaneous grants', async () => {
    const id = await someone()
    const grants = [
      ...['management', 'monitoring', 'policymaker', 'team-a'].map((name) => tag(id, name)),
      ...['configure', 'write', 'read'].flatMap((name) => [
        permission(id, name, 'ops'),
        permission(id, name, '/'),
      ]),
    ]
    await Promise.all(grants.map((grant) => done('assign_entitlement', grant)))
    expect(await heldBy(id)).toHaveLength(10)
    // A custom tag is listed where it is used.
    const tags = await all<Named>('list_entitlements')
    expect(tags.map((one) => one.integration_specific_id)).toContain('team-a')
    await Promise.all(grants.map((grant) => done('unassign_entitlement', grant)))
    expect(await heldBy(id)).toEqual([])
    expect(await signsIn(id, 'the-first-password')).toBe(401)
    await done('assign_entitlement', tag(id, 'management'))
    expect(await signsIn(id, 'the-first-password')).toBe(200)
    await done('delete_account', { account_id: id })
  })

  test.each([' administrator', 'administrator ', 'bäcker', 'a\tb', 'x'.repeat(256), '\ud83d'])(
    'refuses the tag %j, which the server would store as another one',
    async (name) => {
      const user = await someone()
      const refusal = { error_code: 'bad_request', message: expect.stringContaining('ASCII') }
      expect(await refused('assign_entitlement', tag(user, name))).toMatchObject(refusal)
      const entitlements = [{ entitlement_type: 'TAG', integration_specific_id: name }]
      const made = { username: `u-${randomUUID()}`, entitlements }
      expect(await refused('create_account', made)).toMatchObject(refusal)
      expect(await heldBy(user)).toEqual([])
      await done('delete_account', { account_id: user })
    },
  )

  test('does not overwrite an existing account on creation', async () => {
    const taken = { username: 'user003', password: 'a-password-of-mine', entitlements: [] }
    expect(await refused('create_account', taken)).toMatchObject({
      error_code: 'api_error',
      app_error_code: 'user_exists',
      status_code: 412,
    })
    expect(await signsIn('user003', 'pw-003')).toBe(200)
    expect(await heldBy('user003')).toContain('management ')
  })

  test('creates one account if several calls create the same one at once', async () => {
    const username = `u-${randomUUID()}`
    const passwords = Array.from({ length: 5 }, (_, index) => `the-password-${index}`)
    const answers = await Promise.all(
      passwords.map((password) =>
        call('create_account', {
          username,
          password,
          entitlements: [{ entitlement_type: 'TAG', integration_specific_id: 'management' }],
        }),
      ),
    )
    const winners = passwords.filter((_, index) => !answers[index]?.body.is_error)
    expect(winners).toHaveLength(1)
    expect(await signsIn(username, winners[0] ?? '')).toBe(200)
    await done('delete_account', { account_id: username })
  })

  test('creates an account with all entitlements, or none', async () => {
    const wanted = (vhost: string) => ({
      entitlements: [
        { entitlement_type: 'TAG', integration_specific_id: 'monitoring' },
        ...['write', 'read'].map((name) => ({
          entitlement_type: 'PERMISSION',
          integration_specific_id: name,
          integration_specific_resource_id: vhost,
        })),
      ],
    })
    const id = await someone(wanted('/'))
    expect(await heldBy(id)).toEqual(['monitoring ', 'write /', 'read /'])
    await done('delete_account', { account_id: id })

    const username = `u-${randomUUID()}`
    expect(await refused('create_account', { username, ...wanted('nowhere') })).toMatchObject({
      error_code: 'not_found',
    })
    expect((await broker(`/users/${username}`)).status).toBe(404)
  })

  test('a user without a password cannot sign in, also after a grant', async () => {
    const id = await someone({ password: undefined })
    await done('assign_entitlement', tag(id, 'management'))
    expect(await signsIn(id, '')).toBe(401)
    await done('delete_account', { account_id: id })
  })

  test.each(['a/b', '100%', 'a?b#c', 'a b+c', 'Zoë 🐇', '%2F', "o'neil;&="])(
    'supports a user and a virtual host named %s',
    async (name) => {
      const vhost = encodeURIComponent(name)
      await write(`/vhosts/${vhost}`, {})
      const id = await someone({}, name)
      expect(id).toBe(name)
      await done('assign_entitlement', permission(id, 'read', name))
      await done('assign_entitlement', tag(id, 'management'))
      expect(await read(`/permissions/${vhost}/${vhost}`)).toMatchObject({
        user: name,
        vhost: name,
      })
      expect(await heldBy(id)).toEqual(['management ', `read ${name}`])
      expect(await done('get_account', { account_id: id })).toMatchObject({ username: name })
      await done('unassign_entitlement', permission(id, 'read', name))
      await done('delete_account', { account_id: id })
      await broker(`/vhosts/${vhost}`, undefined, { method: 'DELETE' })
      expect((await broker(`/users/${vhost}`)).status).toBe(404)
    },
  )

  test.each<[string, string, object, object]>([
    ['an unknown account', 'get_account', { account_id: 'no' }, { error_code: 'not_found' }],
    [
      'a name that is another route of the API',
      'get_account',
      { account_id: 'without-permissions' },
      { error_code: 'not_found' },
    ],
    ['an account named ..', 'delete_account', { account_id: '..' }, { error_code: 'bad_request' }],
    [
      'an entitlement that the user does not have',
      'get_account_entitlement_associations',
      { account_id: 'no' },
      { error_code: 'not_found', status_code: 404 },
    ],
    [
      'a tag for an unknown user',
      'assign_entitlement',
      tag('no', 'management'),
      { error_code: 'not_found', status_code: 404 },
    ],
    [
      'a permission for an unknown user',
      'assign_entitlement',
      permission('no', 'read', '/'),
      { error_code: 'not_found', status_code: 400 },
    ],
    [
      'a permission in an unknown virtual host',
      'assign_entitlement',
      permission('user001', 'read', 'nowhere'),
      { error_code: 'not_found', status_code: 400 },
    ],
    [
      'unassigning from an unknown user',
      'unassign_entitlement',
      permission('no', 'read', '/'),
      { error_code: 'not_found', status_code: 404 },
    ],
    [
      'unassigning in an unknown virtual host',
      'unassign_entitlement',
      permission('user001', 'read', 'nowhere'),
      { error_code: 'not_found', status_code: 404 },
    ],
    [
      'an unknown type of entitlement',
      'assign_entitlement',
      { ...tag('user001', 'x'), entitlement_type: 'ROLE' },
      { error_code: 'bad_request', raised_by: 'ConnectorError' },
    ],
    ['an empty update', 'update_account', { id: 'user001' }, { error_code: 'bad_request' }],
  ])('reports %s with its error code', async (_what, capability, request, expected) => {
    expect(await refused(capability, request)).toMatchObject(expected)
  })

  test('distinguishes a wrong password from missing permission', async () => {
    const wrong = { username: 'admin', password: 'not-the-password' }
    for (const capability of ['validate_credentials', 'list_accounts'])
      expect(await refused(capability, {}, wrong)).toMatchObject({
        error_code: 'unauthenticated',
        status_code: 401,
        raised_by: 'HTTPStatusError',
      })
    const other = { username: 'user001', password: 'pw-001' }
    expect(await refused('list_accounts', {}, other)).toMatchObject({
      error_code: 'permission_denied',
      status_code: 401,
      app_error_code: 'not_authorised',
    })
    expect(await refused('validate_credentials', {}, other)).toMatchObject({
      error_code: 'permission_denied',
      message: expect.stringContaining('administrator'),
    })
  })

  test('neither deletes, demotes nor locks out the user that it signs in as', async () => {
    const own = { username: await someone(), password: 'the-first-password' }
    await done('assign_entitlement', tag(own.username, 'administrator'))
    await done('assign_entitlement', tag(own.username, 'monitoring'))
    for (const [capability, request] of [
      ['delete_account', { account_id: own.username }],
      ['unassign_entitlement', tag(own.username, 'administrator')],
      ['update_account', { id: own.username, password: 'the-second-password' }],
    ] as const)
      expect(await refused(capability, request, own)).toMatchObject({
        error_code: 'unsupported_operation',
        app_error_code: 'own_account',
      })
    await done('unassign_entitlement', tag(own.username, 'monitoring'), own)
    expect(await heldBy(own.username)).toEqual(['administrator '])
    // Another administrator may do so.
    await done('unassign_entitlement', tag(own.username, 'administrator'))
    await done('delete_account', { account_id: own.username })
  })

  test('connections end when a permission they use is revoked, and when their user is deleted', async () => {
    const port = Number(new URL(system.baseUrl).port) + 1
    const queue = `q-${randomUUID()}`
    await write(`/queues/%2F/${queue}`, {})
    const message = { properties: {}, routing_key: queue, payload: '', payload_encoding: 'string' }
    const publish = () =>
      broker('/exchanges/%2F/amq.default/publish', undefined, {
        method: 'POST',
        body: JSON.stringify(message),
      })
    for (const [capability, requestOf] of [
      ['unassign_entitlement', (id: string) => permission(id, 'read', '/')],
      // The broker uses the tags that a user has on connecting.
      ['unassign_entitlement', (id: string) => tag(id, 'impersonator')],
      ['delete_account', (id: string) => ({ account_id: id })],
    ] as const) {
      const id = await someone()
      await done('assign_entitlement', permission(id, 'read', '/'))
      await done('assign_entitlement', tag(id, 'impersonator'))
      const one = await consumer(port, { username: id, password: 'the-first-password' }, queue)
      await publish()
      await until('the message is delivered', () => one.delivered() === 1)
      await done(capability, requestOf(id))
      await until('the connection ends', () => one.isClosed(), 5000)
      expect(one.delivered()).toBe(1)
      one.end()
      if (capability !== 'delete_account') await done('delete_account', { account_id: id })
    }
    await broker(`/queues/%2F/${queue}`, undefined, { method: 'DELETE' })
  })

  test('reports a base_url without /api', async () => {
    const { origin } = new URL(system.baseUrl)
    const answer = await host.call('rabbitmq', 'validate_credentials', {
      ...envelope(),
      settings: { base_url: origin },
    })
    expect(failure(answer)).toMatchObject({
      error_code: 'not_found',
      message: expect.stringContaining('/api'),
    })
  })

  test('never returns or logs a password or its hash', async () => {
    const id = await someone({ password: 'never-told-to-anybody' })
    const { password_hash: hash } = (await read(`/users/${id}`)) as { password_hash: string }
    for (const [capability, request] of [
      ['get_account', { account_id: id }],
      ['list_accounts', {}],
      ['assign_entitlement', tag(id, 'management')],
      ['update_account', { id, password: 'never-told-to-anybody' }],
    ] as const) {
      const { body } = await host.call('rabbitmq', capability, {
        ...envelope(request),
        include_raw_data: true,
      })
      success(body)
      expect(JSON.stringify(body)).not.toContain('hash')
    }
    const told = host.lines.join('\n')
    for (const secret of ['never-told-to-anybody', hash]) expect(told).not.toContain(secret)
    await done('delete_account', { account_id: id })
  })
})
