/**
 * Runs the SCIM connector end to end: through the host, its sandbox and its egress, against a third-party
 * server.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missing, type RealSystem, serviceToken, startSystem } from '../real-systems/start.ts'
import { connectorClient } from './connector-client.ts'
import { type Answer, failure, startHost, success, type TestHost } from './host.ts'

const why = missing()
const SCOPES = 'scim.read scim.write'
type Account = { integration_specific_id: string; user_status: string; email: string }
type Association = { account_id: string; integration_specific_entitlement_id: string }

describe.skipIf(why !== null)(`the SCIM connector against SCIMMY${why ? ` (${why})` : ''}`, () => {
  let system: RealSystem
  let host: TestHost
  let token: string

  beforeAll(async () => {
    system = await startSystem('oidc-scim', { RATE_LIMIT: '1000000' })
    token = await serviceToken(system, SCOPES)
    host = await startHost({
      env: { KEYWAY_PRIVATE_EGRESS: `scim=${new URL(system.baseUrl).host}` },
    })
  })
  afterAll(async () => {
    await host?.stop()
    await system?.stop()
  })

  const envelope = (request: object = {}, with_ = token) => ({
    auth: { token: { token: with_ } },
    settings: { base_url: system.baseUrl },
    request,
  })
  const { call, done, refused } = connectorClient(() => host, 'scim', envelope)
  const someone = async () => {
    const { id } = await done<{ id: string }>('create_account', {
      email: `${randomUUID()}@example.com`,
      entitlements: [],
    })
    return id
  }
  const grant = (account: string, group: string) => ({
    account_integration_specific_id: account,
    resource_integration_specific_id: '',
    resource_type: '',
    entitlement_type: 'GROUP',
    entitlement_integration_specific_id: group,
  })
  const heldBy = async (account_id: string) =>
    (await done<Association[]>('get_account_entitlement_associations', { account_id })).map(
      (one) => one.integration_specific_entitlement_id,
    )

  const expectEverybody = (accounts: Account[]) => {
    const ids = accounts.map((one) => one.integration_specific_id)
    expect(ids).toHaveLength(250)
    expect(new Set(ids).size).toBe(250)
    expect(accounts.filter((one) => one.user_status === 'SUSPENDED')).toHaveLength(10)
    expect(accounts.filter((one) => one.user_status === 'ACTIVE')).toHaveLength(240)
  }

  test('identifies its tenant by its address', async () => {
    expect(await done('validate_credentials')).toEqual({
      valid: true,
      unique_tenant_id: new URL(system.baseUrl).host + new URL(system.baseUrl).pathname,
    })
  })

  test.each([
    [1, 250],
    [7, 36],
    [100, 3],
    [undefined, 3],
  ])(
    'lists all 250 users exactly once in pages of %s',
    async (size, count) => {
      const pages = await host.pages<Account>('scim', 'list_accounts', envelope(), size)
      expectEverybody(pages.flat())
      expect(pages).toHaveLength(count)
    },
    120_000,
  )

  test('continues a listing with a token that was refreshed in between', async () => {
    const found: Account[] = []
    let page: Answer['body']['page'] = { token: null, size: 60 }
    for (let used = token; page?.token !== undefined; used = await serviceToken(system, SCOPES)) {
      const { body } = await host.call('scim', 'list_accounts', { ...envelope({}, used), page })
      found.push(...success<Account[]>(body))
      page = body.page
    }
    expectEverybody(found)
  })

  test('supports the whole life cycle of an account', async () => {
    const id = await someone()
    const status = async () => (await done<Account>('get_account', { account_id: id })).user_status
    expect(await status()).toBe('ACTIVE')

    for (const _twice of [1, 2])
      expect(await done('assign_entitlement', grant(id, 'g-empty'))).toEqual({ assigned: true })
    expect(await heldBy(id)).toEqual(['g-empty'])
    const all = await host.pages<Association>('scim', 'find_entitlement_associations', envelope())
    expect(all.flat().filter((one) => one.account_id === id)).toHaveLength(1)
    for (const _twice of [1, 2])
      expect(await done('unassign_entitlement', grant(id, 'g-empty'))).toEqual({ unassigned: true })
    expect(await heldBy(id)).toEqual([])

    for (const _twice of [1, 2])
      expect(await done('deactivate_account', { account_id: id })).toMatchObject({
        status: 'SUSPENDED',
      })
    expect(await status()).toBe('SUSPENDED')
    for (const _twice of [1, 2])
      expect(await done('activate_account', { account_id: id })).toMatchObject({ status: 'ACTIVE' })
    expect(await status()).toBe('ACTIVE')

    expect(await done('delete_account', { account_id: id })).toEqual({
      status: 'DELETED',
      deleted: true,
    })
    for (const capability of ['delete_account', 'get_account'])
      expect(await refused(capability, { account_id: id })).toMatchObject({
        error_code: 'not_found',
        status_code: 404,
        raised_by: 'HTTPStatusError',
        app_id: 'scim',
      })
  })

  test.each<[string, string, object, object]>([
    [
      'an unknown account',
      'get_account',
      { account_id: 'nobody' },
      { error_code: 'not_found', status_code: 404 },
    ],
    [
      'deactivating an unknown user',
      'deactivate_account',
      { account_id: 'nobody' },
      { error_code: 'not_found', status_code: 404 },
    ],
    [
      'assigning an unknown group',
      'assign_entitlement',
      grant('u-001', 'none'),
      { error_code: 'not_found', status_code: 404 },
    ],
    [
      'assigning to an unknown user',
      'assign_entitlement',
      grant('nobody', 'g-empty'),
      { error_code: 'not_found', status_code: 404 },
    ],
    [
      'unassigning from an unknown group',
      'unassign_entitlement',
      grant('u-001', 'none'),
      { error_code: 'not_found', status_code: 404 },
    ],
    [
      'a user name that is already used',
      'create_account',
      { username: 'user001@example.com', entitlements: [] },
      { error_code: 'api_error', status_code: 409, app_error_code: 'uniqueness' },
    ],
    [
      'an unknown attribute',
      'update_account',
      { id: 'u-001', department: 'R&D' },
      { error_code: 'bad_request', status_code: 400 },
    ],
    [
      'an unknown type of entitlement',
      'assign_entitlement',
      { ...grant('u-001', 'g-eng'), entitlement_type: 'ROLE' },
      { error_code: 'bad_request', status_code: null, raised_by: 'ConnectorError' },
    ],
    ['a missing capability', 'list_expenses', { filters: {} }, { error_code: 'not_implemented' }],
  ])('reports %s with its error code', async (_what, capability, request, expected) => {
    expect(await refused(capability, request)).toMatchObject(expected)
  })

  test('neither deactivates nor deletes the account that its token belongs to', async () => {
    // The service treats the client as the user with its name.
    const { id } = await done<{ id: string }>('create_account', {
      email: 'service@example.com',
      entitlements: [],
    })
    for (const capability of ['deactivate_account', 'delete_account'])
      expect(await refused(capability, { account_id: id })).toMatchObject({
        error_code: 'unsupported_operation',
        app_error_code: 'own_account',
      })
    expect(await done<Account>('get_account', { account_id: id })).toMatchObject({
      user_status: 'ACTIVE',
    })
    // Under another name, the account is not its own.
    await done('update_account', { id, username: 'another@example.com' })
    await done('deactivate_account', { account_id: id })
    await done('delete_account', { account_id: id })
  })

  test('reports an invalid token, and one with too few scopes', async () => {
    expect(await refused('list_accounts', {}, 'not-a-token-of-this-server')).toMatchObject({
      error_code: 'unauthenticated',
      status_code: 401,
    })
    const reading = await serviceToken(system, 'scim.read')
    expect(success((await call('get_account', { account_id: 'u-001' }, reading)).body)).toBeTruthy()
    expect(await refused('deactivate_account', { account_id: 'u-001' }, reading)).toMatchObject({
      error_code: 'permission_denied',
      status_code: 403,
      raised_by: 'HTTPStatusError',
    })
  })

  test('reports a wrong address, and one without an egress grant', async () => {
    const at = (base_url: string) =>
      host
        .call('scim', 'validate_credentials', { ...envelope(), settings: { base_url } })
        .then(failure)
    expect(await at(`${system.baseUrl}/nothing`)).toMatchObject({ error_code: 'not_found' })
    expect(await at('http://127.0.0.1:1/scim')).toMatchObject({
      error_code: 'permission_denied',
      raised_by: 'Keyway.EgressPolicy',
      message: expect.stringContaining('KEYWAY_PRIVATE_EGRESS=scim=127.0.0.1:1'),
    })
  })

  test('serves many callers at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        done<Account>('get_account', { account_id: `u-${String(index + 1).padStart(3, '0')}` }),
      ),
    )
    expect(new Set(answers.map((one) => one.integration_specific_id)).size).toBe(40)
  })

  test('raw data is the service’s own answer', async () => {
    const { body } = await host.call('scim', 'get_account', {
      ...envelope({ account_id: 'u-001' }),
      include_raw_data: true,
    })
    expect(body.raw_data).toMatchObject({ id: 'u-001', userName: 'user001@example.com' })
  })

  test('reports a rate limit to the caller, who can continue from the same page', async () => {
    const limited = await system.restart({ RATE_LIMIT: '20', RATE_WINDOW_MS: '60000' })
    system = limited
    token = await serviceToken(limited, SCOPES)
    const other = await startHost({
      env: { KEYWAY_PRIVATE_EGRESS: `scim=${new URL(limited.baseUrl).host}` },
    })
    let page: Answer['body']['page'] = { token: null, size: 7 }
    let pages = 0
    let answer: Answer
    do {
      answer = await other.call('scim', 'list_accounts', { ...envelope(), page })
      if (answer.body.is_error) break
      pages += 1
      page = answer.body.page
    } while (page?.token)
    expect(pages).toBe(20)
    // The 20th answer said that nothing is left: the 21st request is not even made.
    expect(failure(answer)).toMatchObject({
      error_code: 'rate_limit',
      raised_by: 'Keyway',
      message: expect.stringMatching(/try again in \d+/),
    })
    expect(answer.body.page).toEqual(page)
    await other.stop()
  })
})
