/**
 * Runs the Slack connector end to end: through the host, its sandbox and its egress, against an emulator of
 * Slack.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Emulate, missing, startEmulate } from '../real-systems/start.ts'
import { connectorClient } from './connector-client.ts'
import { startHost, type TestHost } from './host.ts'
import { type Front, startFront } from './slack-emulated.ts'
import { unpaced, unpacedId } from './unpaced.ts'

type Account = {
  integration_specific_id: string
  username: string
  email: string
  account_type: string
}
type Named = { integration_specific_id: string; integration_specific_resource_id: string }
type Resource = { integration_specific_id: string; label: string }
type Association = {
  account_id: string
  integration_specific_entitlement_id: string
  integration_specific_resource_id: string
}
type Tokens = { access_token: string; token_type: string }

const CONNECTOR = unpacedId('slack')
const why = missing()

describe.skipIf(why !== null)(`the Slack connector${why ? ` (${why})` : ''}`, () => {
  let system: Emulate
  let front: Front
  let host: TestHost
  /** Ids of users, by name. */
  const ids = new Map<string, string>()
  /** Ids of channels, by name. */
  const channels = new Map<string, string>()

  beforeAll(async () => {
    system = await startEmulate()
    const { origin } = new URL(system.slack.baseUrl)
    for (const one of await everybody()) ids.set(one.name, one.id)
    const list = await direct<{ channels: { id: string; name: string }[] }>('conversations.list')
    for (const one of list.channels) channels.set(one.name, one.id)
    front = await startFront(origin, {
      S0DESIGN: [userId('user001'), userId('user002'), userId('user003')],
      S0OPS: [userId('user004')],
    })
    host = await startHost(await unpaced('slack', new URL(front.url).host))
    await host.served(CONNECTOR, '1.0.0')
  })
  afterAll(async () => {
    await host?.stop()
    await front?.stop()
    await system?.stop()
  })

  /** Calls the emulator directly, to check the effect of a call. */
  const direct = async <T>(method: string, parameters: Record<string, string> = {}) => {
    const reply = await fetch(`${system.slack.baseUrl}/${method}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${system.slack.auth.token}` },
      body: new URLSearchParams(parameters),
    })
    return (await reply.json()) as T
  }
  const everybody = async () =>
    (
      await direct<{ members: { id: string; name: string }[] }>('users.list', {
        limit: '1000',
      })
    ).members
  const userId = (name: string) => ids.get(name) ?? ''
  const channelId = (name: string) => channels.get(name) ?? ''

  const settings = () => ({ base_url: `${front.url}/api`, web_url: front.url })
  const byToken = (token = system.slack.auth.token) => [{ id: 'token', token: { token } }]
  const envelope = (request: object = {}, credentials: object[] = byToken(), more = {}) => ({
    credentials,
    settings: { ...settings(), ...more },
    request,
  })
  const { done, refused, all } = connectorClient(() => host, CONNECTOR, envelope)

  const grant = (account: string, type: string, id: string, channel = '') => ({
    account_integration_specific_id: account,
    resource_integration_specific_id: channel,
    resource_type: channel === '' ? '' : 'CHANNEL',
    entitlement_type: type,
    entitlement_integration_specific_id: id,
  })
  const membership = (account: string, name: string) =>
    grant(account, 'CHANNEL_MEMBERSHIP', 'member', channelId(name))
  const told = (one: Association) =>
    `${one.integration_specific_entitlement_id} ${one.integration_specific_resource_id}`.trim()
  const heldBy = async (account_id: string) =>
    (await done<Association[]>('get_account_entitlement_associations', { account_id })).map(told)

  test('identifies its tenant by the id of the workspace', async () => {
    const { team_id } = await direct<{ team_id: string }>('auth.test')
    expect(await done('validate_credentials')).toEqual({ valid: true, unique_tenant_id: team_id })
  })

  test.each([1, 7, 100, undefined])(
    'lists every account exactly once in pages of %s',
    async (size) => {
      const pages = await host.pages<Account>(CONNECTOR, 'list_accounts', envelope(), size)
      if (size !== undefined)
        expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(size)
      const found = pages.flat().map((one) => one.integration_specific_id)
      expect(found).toHaveLength(ids.size)
      expect(found.sort()).toEqual([...ids.values()].sort())
      const people = pages.flat().filter((one) => /^user\d{3}$/.test(one.username))
      expect(people).toHaveLength(250)
      expect(people[6]?.email).toBe(`${people[6]?.username}@example.com`)
    },
  )

  test('distinguishes bots from people', async () => {
    const bot = (await all<Account>('list_accounts')).filter(
      (one) => one.account_type === 'service',
    )
    expect(bot.map((one) => one.username)).toContain('connector')
    expect(await done('get_account', { account_id: userId('user007') })).toMatchObject({
      username: 'user007',
      account_type: 'user',
      user_status: 'ACTIVE',
    })
  })

  test.each([1, 100, undefined])(
    'lists all resources and entitlements, in pages of %s',
    async (size) => {
      const resources = await all<Resource>('list_resources', size)
      expect(resources.map((one) => one.label).sort()).toEqual([...channels.keys()].sort())
      const entitlements = await all<Named>('list_entitlements', size)
      const held = entitlements.map(
        (one) => `${one.integration_specific_id} ${one.integration_specific_resource_id}`,
      )
      expect(new Set(held).size).toBe(held.length)
      // 7 roles, 2 active user groups, and a membership of each channel.
      expect(held).toHaveLength(7 + 2 + channels.size)
      expect(held).toContain('S0OPS ')
    },
  )

  test.each([7, 100, undefined])(
    'lists who has which entitlement, in pages of %s',
    async (size) => {
      const held = await all<Association>('find_entitlement_associations', size)
      expect(new Set(held.map((one) => JSON.stringify(one))).size).toBe(held.length)
      const roles = held.filter(
        (one) => !/^S0|^member$/.test(one.integration_specific_entitlement_id),
      )
      const member = held.filter(
        (one) =>
          one.integration_specific_entitlement_id === 'member' &&
          one.integration_specific_resource_id === '',
      )
      expect(roles.length + member.length).toBe(ids.size)
      expect(
        held.filter((one) => one.integration_specific_entitlement_id === 'S0DESIGN'),
      ).toHaveLength(3)
      for (const [name, channel] of channels) {
        const { members } = await direct<{ members: string[] }>('conversations.members', {
          channel,
        })
        const found = held.filter((one) => one.integration_specific_resource_id === channel)
        expect([name, found.map((one) => one.account_id).sort()]).toEqual([name, members.sort()])
      }
    },
  )

  test('assigns and unassigns entitlements, and leaves the workspace as it was', async () => {
    const before = (await all<Association>('find_entitlement_associations'))
      .map((one) => JSON.stringify(one))
      .sort()
    const user = userId('user042')
    const own = await heldBy(user)
    const grants = [
      membership(user, 'ops'),
      membership(user, 'sales'),
      grant(user, 'USER_GROUP', 'S0DESIGN'),
    ].filter(
      (one) =>
        !own.includes(
          told({
            account_id: user,
            integration_specific_entitlement_id: one.entitlement_integration_specific_id,
            integration_specific_resource_id: one.resource_integration_specific_id,
          }),
        ),
    )
    expect(grants.length).toBeGreaterThan(0)
    for (const one of grants)
      for (const _twice of [1, 2])
        expect(await done('assign_entitlement', one)).toEqual({ assigned: true })
    expect(await heldBy(user)).toHaveLength(own.length + grants.length)
    for (const one of grants)
      for (const _twice of [1, 2])
        expect(await done('unassign_entitlement', one)).toEqual({ unassigned: true })
    expect(await heldBy(user)).toEqual(own)
    // The app had to join channels to invite and remove others.
    const { user_id } = await direct<{ user_id: string }>('auth.test')
    const after = (await all<Association>('find_entitlement_associations')).filter(
      (one) => one.account_id !== user_id,
    )
    expect(after.map((one) => JSON.stringify(one)).sort()).toEqual(
      before.filter((one) => !one.includes(user_id)),
    )
  })

  test('refuses to remove the last member of a user group', async () => {
    const last = grant(userId('user004'), 'USER_GROUP', 'S0OPS')
    expect(await refused('unassign_entitlement', last)).toMatchObject({
      error_code: 'unsupported_operation',
      app_error_code: 'last_member',
    })
    expect(await heldBy(userId('user004'))).toContain('S0OPS')
  })

  test('keeps all of several simultaneous changes of one user group', async () => {
    const some = ['user011', 'user012', 'user013', 'user014'].map((name) =>
      grant(userId(name), 'USER_GROUP', 'S0OPS'),
    )
    await Promise.all(some.map((one) => done('assign_entitlement', one)))
    const { users } = (await (
      await fetch(`${front.url}/api/usergroups.users.list`, {
        method: 'POST',
        headers: { authorization: 'Bearer x' },
        body: new URLSearchParams({ usergroup: 'S0OPS' }),
      })
    ).json()) as { users: string[] }
    expect(users).toHaveLength(5)
    await Promise.all(some.map((one) => done('unassign_entitlement', one)))
    expect(await heldBy(userId('user014'))).not.toContain('S0OPS')
  })

  test.each<[string, string, () => object, object]>([
    [
      'an unknown account',
      'get_account',
      () => ({ account_id: 'U0' }),
      { error_code: 'not_found', app_error_code: 'user_not_found', status_code: 200 },
    ],
    [
      'an entitlement that the user does not have',
      'get_account_entitlement_associations',
      () => ({ account_id: 'U0' }),
      { error_code: 'not_found' },
    ],
    [
      'a channel for an unknown user',
      'assign_entitlement',
      () => membership('U0', 'ops'),
      { error_code: 'not_found' },
    ],
    [
      'an unknown channel',
      'assign_entitlement',
      () => grant(userId('user001'), 'CHANNEL_MEMBERSHIP', 'member', 'C0'),
      { error_code: 'not_found', app_error_code: 'channel_not_found' },
    ],
    [
      'an unknown channel to leave',
      'unassign_entitlement',
      () => grant(userId('user001'), 'CHANNEL_MEMBERSHIP', 'member', 'C0'),
      { error_code: 'not_found' },
    ],
    [
      'an unknown user to remove',
      'unassign_entitlement',
      () => membership('U0', 'ops'),
      { error_code: 'not_found' },
    ],
    [
      'an unknown user group',
      'assign_entitlement',
      () => grant(userId('user001'), 'USER_GROUP', 'S0'),
      { error_code: 'not_found', app_error_code: 'no_such_subteam' },
    ],
    [
      'a role',
      'assign_entitlement',
      () => grant(userId('user001'), 'ROLE', 'owner'),
      { error_code: 'unsupported_operation' },
    ],
    [
      'an unknown type of entitlement',
      'assign_entitlement',
      () => grant(userId('user001'), 'TAG', 'x'),
      { error_code: 'bad_request', raised_by: 'ConnectorError' },
    ],
  ])('reports %s with its error code', async (_what, capability, request, expected) => {
    expect(await refused(capability, request())).toMatchObject(expected)
  })

  test('reports a token with too few scopes', async () => {
    expect(await refused('validate_credentials', {}, byToken('xoxb-limited'))).toMatchObject({
      error_code: 'permission_denied',
      app_error_code: 'missing_scope',
      message: expect.stringContaining('users:read'),
    })
  })

  test('obtains its token by OAuth', async () => {
    const { clientId: client_id, clientSecret: client_secret } = system.slack.oauth
    const { authorization_url } = await done<{ authorization_url: string }>(
      'get_authorization_url',
      {
        client_id,
        scopes: [],
        redirect_uri: system.redirectUri,
        state: 'the-state',
        credential_id: 'oauth',
      },
    )
    const callback = await consent(
      authorization_url.replace(front.url, new URL(system.slack.baseUrl).origin),
    )
    const tokens = await done<Tokens>('handle_authorization_callback', {
      client_id,
      client_secret,
      redirect_uri_with_code: callback,
      state: 'the-state',
      credential_id: 'oauth',
    })
    expect(tokens.token_type).toBe('bearer')
    const { access_token } = tokens
    const found = await host.pages<Account>(
      CONNECTOR,
      'list_accounts',
      envelope({}, [{ id: 'oauth', oauth: { access_token } }]),
      100,
    )
    expect(found.flat().length).toBeGreaterThanOrEqual(ids.size)
  })
})

/** Gives consent as the first user of the emulator's page, and returns the address of the redirect. */
async function consent(authorizationUrl: string): Promise<string> {
  const page = await (await fetch(authorizationUrl)).text()
  const form = /<form[\s\S]*?<\/form>/.exec(page)?.[0] ?? ''
  const fields = [...form.matchAll(/name="([^"]+)"\s+value="([^"]*)"/g)].map(
    ([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')] as [string, string],
  )
  const reply = await fetch(new URL('/oauth/v2/authorize/callback', authorizationUrl), {
    method: 'POST',
    body: new URLSearchParams(fields),
    redirect: 'manual',
  })
  const location = reply.headers.get('location')
  if (location === null) throw new Error(`no redirect: ${reply.status} ${await reply.text()}`)
  return location
}
