/**
 * Runs the Okta connector end to end: through the host, its sandbox and its egress, against an emulator of
 * Okta.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OKTA, readDescription } from '../described/description.ts'
import { type Recorder, startRecorder } from '../described/recorder.ts'
import { type Emulate, missing, startEmulate } from '../real-systems/start.ts'
import { connectorClient } from './connector-client.ts'
import { startHost, success, type TestHost } from './host.ts'
import { DEVIATIONS, MENDS } from './okta-emulated.ts'
import { unpaced, unpacedId } from './unpaced.ts'

type Account = { integration_specific_id: string; username: string; user_status: string }
type Named = { integration_specific_id: string; integration_specific_resource_id: string }
type Association = {
  account_id: string
  integration_specific_entitlement_id: string
  integration_specific_resource_id: string
}
type Credential = { id: string } & Record<string, unknown>

const CONNECTOR = unpacedId('okta')
const why = missing('tar')

describe.skipIf(why !== null)(`the Okta connector${why ? ` (${why})` : ''}`, () => {
  let system: Emulate
  let recorder: Recorder
  let host: TestHost
  /** Ids of users, by their names. */
  const ids = new Map<string, string>()

  beforeAll(async () => {
    system = await startEmulate()
    recorder = await startRecorder({
      upstream: new URL(system.okta.baseUrl).origin,
      description: await readDescription(OKTA),
      deviations: DEVIATIONS,
      mends: MENDS,
      outside: /^\/oauth2\//,
    })
    host = await startHost(await unpaced('okta', new URL(recorder.url).host))
    await host.served(CONNECTOR, '1.0.0')
    for (const { integration_specific_id: id, username } of await all<Account>('list_accounts'))
      ids.set(username.replace(/@.*/, ''), id)
    for (const name of ['user001', 'user002', 'user003'])
      await direct('PUT', `/groups/00g_eng/users/${ids.get(name)}`)
    await direct('PUT', `/groups/00g_sup/users/${ids.get('user003')}`)
    await direct('PUT', `/apps/0oa_wiki/users/${ids.get('user001')}`)
  })
  afterAll(async () => {
    await host?.stop()
    await recorder?.stop()
    await system?.stop()
  })

  const personal = (): Credential => ({ id: 'token', token: { token: system.okta.auth.token } })
  const envelope = (request: object = {}, credential: Credential = personal()) => ({
    credentials: [credential],
    settings: { base_url: recorder.url },
    request,
  })
  const { done, refused } = connectorClient(() => host, CONNECTOR, envelope)
  const all = async <T>(capability: string, request: object = {}, size?: number) =>
    (await host.pages<T>(CONNECTOR, capability, envelope(request), size)).flat()

  /** Calls the emulator directly, to prepare it and to check the effect of a call. */
  const direct = (method: string, path: string) =>
    fetch(system.okta.baseUrl + path, {
      method,
      headers: { authorization: `SSWS ${system.okta.auth.token}` },
    })
  const read = async (path: string) => (await direct('GET', path)).json()

  const someone = async (more: object = {}) => {
    const username = `u-${randomUUID()}@example.com`
    const created = await done<{ id: string; status: string }>('create_account', {
      username,
      given_name: 'Jo',
      family_name: 'Roe',
      password: 'the-first-password',
      entitlements: [],
      ...more,
    })
    return { ...created, username }
  }
  const gone = async (account_id: string) => done('delete_account', { account_id })

  const group = (account: string, id: string) => ({
    account_integration_specific_id: account,
    resource_integration_specific_id: '',
    resource_type: '',
    entitlement_type: 'GROUP',
    entitlement_integration_specific_id: id,
  })
  const access = (account: string, application: string) => ({
    account_integration_specific_id: account,
    resource_integration_specific_id: application,
    resource_type: 'APPLICATION',
    entitlement_type: 'APPLICATION_ACCESS',
    entitlement_integration_specific_id: 'access',
  })
  const value = (account: string, attribute: string, id: string) => ({
    application_instance_id: '0oa_crm',
    account_integration_specific_id: account,
    resource_integration_specific_id: attribute,
    resource_type: 'PROFILE_ATTRIBUTE',
    entitlement_type: 'ATTRIBUTE_VALUE',
    entitlement_integration_specific_id: id,
  })
  const told = (one: Association) =>
    `${one.integration_specific_entitlement_id} ${one.integration_specific_resource_id}`.trim()
  const heldBy = async (account_id: string) =>
    (await all<Association>('get_account_entitlement_associations', { account_id })).map(told)
  const heldWithin = async (account_id: string) =>
    (await all<Association>('list_applications_entitlement_associations'))
      .filter((one) => one.account_id === account_id)
      .map(told)

  test('identifies its tenant by the address of the organisation', async () => {
    expect(await done('validate_credentials')).toEqual({
      valid: true,
      unique_tenant_id: new URL(recorder.url).host,
    })
  })

  test.each([
    [1, 251],
    [7, 36],
    [100, 3],
    [undefined, 9],
  ])('lists all 251 users exactly once in pages of %s', async (size, count) => {
    const pages = await host.pages<Account>(CONNECTOR, 'list_accounts', envelope(), size)
    expect(pages).toHaveLength(count)
    expect(
      pages
        .flat()
        .map((one) => one.username)
        .sort(),
    ).toEqual([
      'testuser@okta.local',
      ...Array.from(
        { length: 250 },
        (_, index) => `user${String(index + 1).padStart(3, '0')}@example.com`,
      ),
    ])
  })

  test.each([1, 100, undefined])(
    'lists all resources and entitlements, in pages of %s',
    async (size) => {
      const resources = await all<Named>('list_resources', {}, size)
      expect(resources.map((one) => one.integration_specific_id)).toEqual(
        expect.arrayContaining(['0oa_crm', '0oa_wiki']),
      )
      const entitlements = await all<Named>('list_entitlements', {}, size)
      const names = entitlements.map(
        (one) => `${one.integration_specific_id} ${one.integration_specific_resource_id}`,
      )
      expect(new Set(names).size).toBe(names.length)
      expect(names).toHaveLength(3 + resources.length)
      expect(names).toEqual(expect.arrayContaining(['00g_eng ', 'access 0oa_crm']))
    },
  )

  test.each([1, 100, undefined])(
    'lists who has which entitlement, in pages of %s',
    async (size) => {
      const held = await all<Association>('find_entitlement_associations', {}, size)
      expect(new Set(held.map((one) => JSON.stringify(one))).size).toBe(held.length)
      const of = (name: string) => held.filter((one) => one.account_id === ids.get(name)).map(told)
      expect(of('user001')).toEqual(['00g_eng', 'access 0oa_wiki'])
      expect(of('user003')).toEqual(['00g_eng', '00g_sup'])
      expect(of('user004')).toEqual([])
      expect(await heldBy(ids.get('user001') ?? '')).toEqual(['00g_eng', 'access 0oa_wiki'])
    },
  )

  test('supports the whole life cycle of an account, and leaves all others unchanged', async () => {
    const before = await all<Account>('list_accounts')
    const held = await all<Association>('find_entitlement_associations')
    const { id, status, username } = await someone()
    expect(status).toBe('ACTIVE')
    expect(
      await done('get_account', { account_id: id, custom_attributes: ['locale'] }),
    ).toMatchObject({
      username,
      given_name: 'Jo',
      user_status: 'ACTIVE',
      custom_attributes: { locale: 'en-US' },
    })
    // The user has never signed in, and the other one does not exist.
    expect(await done('get_last_activity', { account_ids: [id, 'nobody'] })).toEqual([])

    const change = { id, family_name: 'Doe', email: `d-${username}` }
    expect(await done('update_account', change)).toMatchObject(change)
    expect(await read(`/users/${id}`)).toMatchObject({
      profile: { firstName: 'Jo', lastName: 'Doe', email: `d-${username}`, login: username },
    })

    for (const _twice of [1, 2])
      expect(await done('deactivate_account', { account_id: id })).toEqual({
        status: 'SUSPENDED',
        deactivated: true,
      })
    expect(await read(`/users/${id}`)).toMatchObject({ status: 'SUSPENDED' })
    for (const _twice of [1, 2])
      expect(await done('activate_account', { account_id: id })).toEqual({
        status: 'ACTIVE',
        activated: true,
      })

    for (const one of [group(id, '00g_eng'), access(id, '0oa_crm')])
      for (const _twice of [1, 2])
        expect(await done('assign_entitlement', one)).toEqual({ assigned: true })
    expect(await heldBy(id)).toEqual(['00g_eng', 'access 0oa_crm'])
    for (const one of [group(id, '00g_eng'), access(id, '0oa_crm')])
      for (const _twice of [1, 2])
        expect(await done('unassign_entitlement', one)).toEqual({ unassigned: true })
    expect(await heldBy(id)).toEqual([])

    expect(await gone(id)).toEqual({ status: 'DELETED', deleted: true })
    for (const capability of ['delete_account', 'get_account'])
      expect(await refused(capability, { account_id: id })).toMatchObject({
        error_code: 'not_found',
        status_code: 404,
        app_error_code: 'E0000007',
      })
    expect(await all('list_accounts')).toEqual(before)
    expect(await all('find_entitlement_associations')).toEqual(held)
  })

  test('neither suspends nor deletes the person whose token it uses', async () => {
    const { id: account_id } = (await read('/users/me')) as { id: string }
    for (const capability of ['deactivate_account', 'delete_account'])
      expect(await refused(capability, { account_id })).toMatchObject({
        error_code: 'unsupported_operation',
        app_error_code: 'own_account',
      })
    expect(await read(`/users/${account_id}`)).toMatchObject({ status: 'ACTIVE' })
  })

  test('creates a staged account, which can be activated later', async () => {
    const { id, status } = await someone({ password: undefined, user_status: 'pending' })
    expect(status).toBe('PENDING')
    const accounts = await all<Account>('list_accounts')
    expect(accounts.map((one) => one.integration_specific_id)).not.toContain(id)
    expect(await refused('deactivate_account', { account_id: id })).toMatchObject({
      error_code: 'unsupported_operation',
    })
    expect(await done('activate_account', { account_id: id })).toMatchObject({ status: 'ACTIVE' })
    await gone(id)
  })

  test('does not overwrite an existing account on creation', async () => {
    const taken = { username: 'user003@example.com', entitlements: [] }
    expect(await refused('create_account', taken)).toMatchObject({
      error_code: 'api_error',
      status_code: 400,
      app_error_code: 'E0000001',
    })
  })

  test('assigns applications, and entitlements within them', async () => {
    const { id } = await someone()
    const assignment = { application_instance_id: '0oa_crm', account_id: id }
    expect(await refused('get_application_account', assignment)).toMatchObject({
      error_code: 'not_found',
    })
    for (const _twice of [1, 2])
      expect(await done('assign_application', assignment)).toEqual({
        assigned: true,
        provisioned: false,
      })
    expect(await done('get_application_account', assignment)).toEqual({
      ...assignment,
      status: 'ACTIVE',
    })
    expect(await all('list_applications_accounts', {}, 1)).toContainEqual({
      ...assignment,
      status: 'ACTIVE',
    })

    const grants = [
      value(id, 'role', 'agent'),
      value(id, 'regions', 'north'),
      value(id, 'regions', 'south'),
    ]
    for (const one of [...grants, ...grants])
      expect(await done('assign_application_entitlement', one)).toEqual({ assigned: true })
    await done('assign_application_entitlement', {
      ...group(id, '00g_sup'),
      application_instance_id: '0oa_crm',
    })
    expect(await heldWithin(id)).toEqual([
      '00g_sup',
      'agent role',
      'north regions',
      'south regions',
    ])
    // There can only be one role.
    await done('assign_application_entitlement', value(id, 'role', 'admin'))
    await done('unassign_application_entitlement', value(id, 'role', 'agent'))
    await done('unassign_application_entitlement', value(id, 'regions', 'north'))
    await done('unassign_application_entitlement', {
      ...group(id, '00g_sup'),
      application_instance_id: '0oa_crm',
    })
    expect(await heldWithin(id)).toEqual(['admin role', 'south regions'])

    for (const _twice of [1, 2])
      expect(await done('unassign_application', assignment)).toEqual({ unassigned: true })
    expect(await heldWithin(id)).toEqual([])
    await gone(id)
  })

  test('lists applications and entitlements within them', async () => {
    const applications = await all<{ id: string }>('list_applications')
    expect(applications).toContainEqual({
      id: '0oa_crm',
      name: 'crm',
      display_name: 'CRM',
      status: 'ACTIVE',
      sign_on_mode: 'SAML_2_0',
      assignment_modes: ['ACCOUNT', 'ENTITLEMENT'],
      description: null,
      logo: null,
      sso_login_url: null,
    })
    expect(await done('get_application', { application_instance_id: '0oa_crm' })).toEqual(
      applications.find(({ id }) => id === '0oa_crm'),
    )
    const resources = await all<Named>('list_applications_resources')
    expect(resources.map((one) => one.integration_specific_id)).toEqual(['role', 'regions'])
    const entitlements = await all<Named>('list_applications_entitlements')
    expect(entitlements.map((one) => one.integration_specific_id)).toEqual([
      '00g_sup',
      'agent',
      'admin',
      'north',
      'south',
    ])
  })

  test('lists activity records, and separately those of applications', async () => {
    expect(await all('list_activity_records')).toHaveLength(2)
    expect(await all('list_applications_activity_records')).toEqual([
      expect.objectContaining({ id: 'e-1', application_instance_id: '0oa_crm' }),
    ])
    expect(await all<{ name: string }>('list_custom_attributes_schema')).toEqual([
      expect.objectContaining({ name: 'locale', customized_type: 'ACCOUNT' }),
    ])
  })

  test.each<[string, string, object, object]>([
    ['an unknown account', 'get_account', { account_id: 'no' }, { app_error_code: 'E0000007' }],
    [
      'an account by its name',
      'get_account',
      { account_id: 'user001@example.com' },
      { error_code: 'not_found', raised_by: 'ConnectorError' },
    ],
    ['the caller', 'delete_account', { account_id: 'me' }, { error_code: 'not_found' }],
    [
      'an unknown group',
      'assign_entitlement',
      group('no', 'no'),
      { error_code: 'not_found', status_code: 404 },
    ],
    [
      'an application for an unknown user',
      'assign_application',
      { application_instance_id: '0oa_crm', account_id: 'no' },
      { error_code: 'not_found' },
    ],
    [
      'unassigning an application from an unknown user',
      'unassign_application',
      { application_instance_id: '0oa_crm', account_id: 'no' },
      { error_code: 'not_found' },
    ],
    [
      'an unknown application',
      'get_application',
      { application_instance_id: 'no' },
      { error_code: 'not_found' },
    ],
    [
      'an unknown value',
      'assign_application_entitlement',
      value('no', 'role', 'king'),
      { error_code: 'not_found' },
    ],
    [
      'an unknown attribute',
      'assign_application_entitlement',
      value('no', 'colour', 'red'),
      { error_code: 'not_found' },
    ],
    [
      'a value for an unknown user',
      'assign_application_entitlement',
      value('no', 'role', 'admin'),
      { error_code: 'not_found' },
    ],
    ['an empty update', 'update_account', { id: 'no' }, { error_code: 'bad_request' }],
  ])('reports %s with its error code', async (_what, capability, request, expected) => {
    expect(await refused(capability, request)).toMatchObject(expected)
  })

  test('obtains a token by consent, which works, as does a refreshed one', async () => {
    const { redirectUri, okta } = system
    const client = { client_id: okta.oauth.clientId, client_secret: okta.oauth.clientSecret }
    const ask = <T>(capability: string, request: object) =>
      host
        .call(CONNECTOR, capability, { settings: { base_url: recorder.url }, request })
        .then(({ body }) => success<T>(body))
    const { authorization_url, code_verifier } = await ask<{
      authorization_url: string
      code_verifier: string
    }>('get_authorization_url', {
      client_id: client.client_id,
      scopes: [],
      redirect_uri: redirectUri,
      state: 's-1',
    })
    const { searchParams, origin, pathname } = new URL(authorization_url)
    expect(searchParams.get('scope')).toContain('offline_access okta.users.read')
    // The consent page lets the person choose a user, and sends this.
    const consent = await fetch(`${origin}${pathname}/callback`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({
        ...Object.fromEntries(searchParams),
        user_ref: ids.get('user001') ?? '',
        response_mode: 'query',
        auth_server_id: 'org',
      }),
    })
    type Tokens = { access_token: string; refresh_token: string }
    const tokens = await ask<Tokens>('handle_authorization_callback', {
      ...client,
      redirect_uri_with_code: consent.headers.get('location'),
      state: 's-1',
      code_verifier,
    })
    const { refresh_token } = tokens
    const again = await ask<Tokens>('refresh_access_token', { ...client, refresh_token })
    for (const { access_token } of [tokens, again]) {
      const credential = { id: 'oauth', oauth: { access_token } }
      expect(await done('validate_credentials', {}, credential)).toMatchObject({ valid: true })
    }
  })

  test('all requests and answers conform to Okta’s API description', () => {
    expect(recorder.findings()).toEqual([])
    expect(recorder.unused()).toEqual([])
  })
})
