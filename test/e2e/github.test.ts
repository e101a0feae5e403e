/**
 * Runs the GitHub connector end to end: through the host, its sandbox and its egress, against an emulator of
 * GitHub.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GITHUB, readDescription } from '../described/description.ts'
import { type Recorder, startRecorder } from '../described/recorder.ts'
import { type Emulate, missing, startEmulate } from '../real-systems/start.ts'
import { connectorClient } from './connector-client.ts'
import { DEVIATIONS, MENDS } from './github-emulated.ts'
import { startHost, success, type TestHost } from './host.ts'
import { unpaced, unpacedId } from './unpaced.ts'

type Account = { integration_specific_id: string; email: string | null; extra_data: object }
type Named = { integration_specific_id: string; integration_specific_resource_id: string }
type Association = {
  account_id: string
  integration_specific_entitlement_id: string
  integration_specific_resource_id: string
}
type Credential = { id: string } & Record<string, unknown>

const CONNECTOR = unpacedId('github')
const why = missing('tar')

describe.skipIf(why !== null)(`the GitHub connector${why ? ` (${why})` : ''}`, () => {
  let system: Emulate
  let recorder: Recorder
  let host: TestHost

  beforeAll(async () => {
    system = await startEmulate()
    recorder = await startRecorder({
      upstream: system.github.baseUrl,
      description: await readDescription(GITHUB),
      deviations: DEVIATIONS,
      mends: MENDS,
      outside: /^\/login\//,
    })
    host = await startHost(await unpaced('github', new URL(recorder.url).host))
    await host.served(CONNECTOR, '1.0.0')
    for (const [team, members] of Object.entries(TEAMS)) {
      await direct('POST', '/orgs/acme/teams', { name: team })
      for (const [login, role] of Object.entries(members))
        await direct('PUT', `/orgs/acme/teams/${team}/memberships/${login}`, { role })
    }
  })
  afterAll(async () => {
    await host?.stop()
    await recorder?.stop()
    await system?.stop()
  })

  const personal = (): Credential => ({ id: 'token', token: { token: system.github.auth.token } })
  const settings = () => ({
    organization: 'acme',
    base_url: recorder.url,
    web_url: recorder.url,
  })
  const envelope = (request: object = {}, credential: Credential = personal()) => ({
    credentials: [credential],
    settings: settings(),
    request,
  })
  const { done, refused } = connectorClient(() => host, CONNECTOR, envelope)
  const all = async <T>(capability: string, request: object = {}, size?: number) =>
    (await host.pages<T>(CONNECTOR, capability, envelope(request), size)).flat()

  /** Calls the emulator directly, to prepare it and to check the effect of a call. */
  const direct = (method: string, path: string, body?: object) =>
    fetch(system.github.baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${system.github.auth.token}` },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })

  const grant = (account: string, type: string, id: string, resource = '', of = '') => ({
    account_integration_specific_id: account,
    resource_integration_specific_id: resource,
    resource_type: of,
    entitlement_type: type,
    entitlement_integration_specific_id: id,
  })
  const heldBy = async (account_id: string) =>
    (await all<Association>('get_account_entitlement_associations', { account_id })).map(told)
  const told = (one: Association | Named) =>
    `${'account_id' in one ? one.integration_specific_entitlement_id : one.integration_specific_id} ${one.integration_specific_resource_id}`.trim()

  test('identifies its tenant by the number of the organisation', async () => {
    const { id } = (await (await direct('GET', '/orgs/acme')).json()) as { id: number }
    const { host: at } = new URL(recorder.url)
    expect(await done('validate_credentials')).toEqual({
      valid: true,
      unique_tenant_id: `${at}/${id}`,
    })
  })

  test.each([
    [1, 251],
    [7, 36],
    [100, 3],
    [undefined, 3],
  ])('lists all 251 members exactly once in pages of %s', async (size, count) => {
    const pages = await host.pages<Account>(CONNECTOR, 'list_accounts', envelope(), size)
    // The last page may be empty: it checks for outside collaborators.
    expect([count, count + 1]).toContain(pages.length)
    const found = pages.flat()
    expect(found.map((one) => one.integration_specific_id).sort()).toEqual([
      'owner',
      ...Array.from({ length: 250 }, (_, index) => `user${String(index + 1).padStart(3, '0')}`),
    ])
    expect(found.at(-1)?.email).toBe('user250@example.com')
  })

  test('does not read profiles if read_profiles is false', async () => {
    const { body } = await host.call(CONNECTOR, 'list_accounts', {
      ...envelope(),
      settings: { ...settings(), read_profiles: false },
    })
    expect(success<Account[]>(body)[0]).toMatchObject({ email: null, user_status: 'ACTIVE' })
  })

  test.each([1, 7, undefined])(
    'lists all resources and entitlements, in pages of %s',
    async (size) => {
      const resources = await all<Account>('list_resources', {}, size)
      expect(resources.map((one) => one.integration_specific_id)).toEqual([
        'members',
        'core',
        'ops',
        'acme/api',
        'acme/web',
      ])
      const entitlements = (await all<Named>('list_entitlements', {}, size)).map(told)
      expect(new Set(entitlements).size).toBe(entitlements.length)
      expect(entitlements).toHaveLength(2 + 3 * 2 + 2 * 5)
      expect(entitlements).toContain('maintainer ops')
      expect(entitlements).toContain('triage acme/api')
    },
  )

  test.each([7, 100, undefined])(
    'lists who has which entitlement, in pages of %s',
    async (size) => {
      const held = await all<Association>('find_entitlement_associations', {}, size)
      expect(new Set(held.map((one) => JSON.stringify(one))).size).toBe(held.length)
      // Members of the organisation, of the emulator's team of all members, and of two teams.
      expect(held).toHaveLength(251 + 251 + 3 + 1)
      const of = (login: string) => held.filter((one) => one.account_id === login).map(told)
      expect(of('user001').sort()).toEqual([
        'member',
        'member core',
        'member members',
        'member ops',
      ])
    },
  )

  test('supports the whole life cycle of an account, and leaves all others unchanged', async () => {
    const before = await all<Association>('find_entitlement_associations', {}, 100)
    expect(await done('create_account', { username: 'outsider', entitlements: [] })).toEqual({
      // GitHub itself would answer PENDING: the emulator requires no acceptance.
      status: 'ACTIVE',
      created: true,
      id: 'outsider',
    })
    expect(
      await refused('create_account', { username: 'outsider', entitlements: [] }),
    ).toMatchObject({ error_code: 'api_error', app_error_code: 'already_member' })
    expect(await done<Account>('get_account', { account_id: 'outsider' })).toMatchObject({
      user_status: 'ACTIVE',
      extra_data: { name: 'Out Sider', relation: 'member' },
    })

    const grants = [
      grant('outsider', 'TEAM_ROLE', 'member', 'ops', 'TEAM'),
      grant('outsider', 'REPOSITORY_ROLE', 'write', 'acme/api', 'REPOSITORY'),
    ]
    for (const one of grants)
      for (const _twice of [1, 2])
        expect(await done('assign_entitlement', one)).toEqual({ assigned: true })
    expect(await heldBy('outsider')).toEqual([
      'member',
      'member members',
      'member ops',
      'write acme/api',
    ])

    for (const _twice of [1, 2])
      await done('assign_entitlement', grant('outsider', 'MEMBERSHIP', 'admin'))
    expect(await heldBy('outsider')).toContain('admin')
    for (const _twice of [1, 2])
      await done('unassign_entitlement', grant('outsider', 'MEMBERSHIP', 'admin'))
    expect(await heldBy('outsider')).toContain('member')

    // Another role replaces the first one, and revoking the first one then changes nothing.
    await done('assign_entitlement', { ...grants[1], entitlement_integration_specific_id: 'admin' })
    await done('unassign_entitlement', grants[1])
    expect(await heldBy('outsider')).toContain('admin acme/api')
    await done('assign_entitlement', grants[1])
    for (const one of grants)
      for (const _twice of [1, 2])
        expect(await done('unassign_entitlement', one)).toEqual({ unassigned: true })
    expect(await heldBy('outsider')).toEqual(['member', 'member members'])

    expect(await done('delete_account', { account_id: 'outsider' })).toEqual({
      status: 'DELETED',
      deleted: true,
    })
    for (const capability of ['delete_account', 'get_account'])
      expect(await refused(capability, { account_id: 'outsider' })).toMatchObject({
        error_code: 'not_found',
        status_code: 404,
      })
    expect(await all<Association>('find_entitlement_associations', {}, 100)).toEqual(before)
  })

  test.each<[string, string, object, object]>([
    ['an unknown account', 'get_account', { account_id: 'nobody' }, { error_code: 'not_found' }],
    ['an account named ..', 'get_account', { account_id: '..' }, { error_code: 'bad_request' }],
    [
      'a role for a person who is not a member',
      'assign_entitlement',
      grant('outsider', 'TEAM_ROLE', 'member', 'ops', 'TEAM'),
      { error_code: 'not_found' },
    ],
    [
      'a role in an unknown team',
      'assign_entitlement',
      grant('user001', 'TEAM_ROLE', 'member', 'none', 'TEAM'),
      { error_code: 'not_found', raised_by: 'HTTPStatusError' },
    ],
    [
      'unassigning a role of an unknown team',
      'unassign_entitlement',
      grant('user001', 'TEAM_ROLE', 'member', 'none', 'TEAM'),
      { error_code: 'not_found' },
    ],
    [
      'a role in a repository of another person',
      'assign_entitlement',
      grant('user001', 'REPOSITORY_ROLE', 'read', 'other/api', 'REPOSITORY'),
      { error_code: 'bad_request' },
    ],
    [
      'a role in an unknown repository',
      'assign_entitlement',
      grant('user001', 'REPOSITORY_ROLE', 'read', 'acme/none', 'REPOSITORY'),
      { error_code: 'not_found' },
    ],
    [
      'a team role without a team',
      'assign_entitlement',
      grant('user001', 'TEAM_ROLE', 'member'),
      { error_code: 'bad_request', message: expect.stringContaining('TEAM; name one') },
    ],
    [
      'unassigning the membership of a member',
      'unassign_entitlement',
      grant('user001', 'MEMBERSHIP', 'member'),
      { error_code: 'unsupported_operation' },
    ],
  ])('reports %s with its error code', async (_what, capability, request, expected) => {
    expect(await refused(capability, request)).toMatchObject(expected)
  })

  test('neither removes nor demotes the owner whose token it uses', async () => {
    const { login } = (await (await direct('GET', '/user')).json()) as { login: string }
    for (const [capability, request] of [
      ['delete_account', { account_id: login }],
      ['unassign_entitlement', grant(login, 'MEMBERSHIP', 'admin')],
    ] as const)
      expect(await refused(capability, request)).toMatchObject({
        error_code: 'unsupported_operation',
        app_error_code: 'own_account',
      })
    expect(await heldBy(login)).toContain('admin')
  })

  test('obtains a token by consent, which works', async () => {
    const { redirectUri, github } = system
    const { clientId: client_id, clientSecret: client_secret } = github.oauth
    const ask = <T>(capability: string, request: object) =>
      host
        .call(CONNECTOR, capability, { settings: settings(), request })
        .then(({ body }) => success<T>(body))
    const { authorization_url, code_verifier } = await ask<{
      authorization_url: string
      code_verifier: string
    }>('get_authorization_url', { client_id, scopes: [], redirect_uri: redirectUri, state: 's-1' })
    const { searchParams, pathname } = new URL(authorization_url)
    expect(pathname).toBe('/login/oauth/authorize')
    expect(searchParams.get('scope')).toBe('read:org repo admin:org')
    // The consent page lets the person choose a user, and sends this.
    const consent = await fetch(`${github.baseUrl}/login/oauth/callback`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({
        login: 'owner',
        redirect_uri: redirectUri,
        scope: searchParams.get('scope') ?? '',
        state: 's-1',
        client_id,
      }),
    })
    const tokens = await ask<{ access_token: string }>('handle_authorization_callback', {
      client_id,
      client_secret,
      redirect_uri_with_code: consent.headers.get('location'),
      state: 's-1',
      code_verifier,
    })
    const { access_token } = tokens
    expect(access_token).toMatch(/^gho_/)
    const credential = { id: 'oauth', oauth: { access_token } }
    const first = await done<Account>('get_account', { account_id: 'user001' }, credential)
    expect(first.integration_specific_id).toBe('user001')
  })

  test('all requests and answers conform to GitHub’s API description', () => {
    expect(recorder.findings()).toEqual([])
    expect(recorder.unused()).toEqual([])
    expect(recorder.operations()).toEqual(
      expect.arrayContaining([
        'PUT /orgs/{org}/memberships/{username}',
        'PUT /orgs/{org}/teams/{team_slug}/memberships/{username}',
        'DELETE /orgs/{org}/teams/{team_slug}/memberships/{username}',
        'PUT /repos/{owner}/{repo}/collaborators/{username}',
        'DELETE /repos/{owner}/{repo}/collaborators/{username}',
        'DELETE /orgs/{org}/members/{username}',
      ]),
    )
  })
})

/** Members of teams, without the emulator's team of all members. */
const TEAMS: Record<string, Record<string, string>> = {
  core: { user001: 'member', user002: 'member' },
  ops: { user001: 'member', owner: 'maintainer' },
}
