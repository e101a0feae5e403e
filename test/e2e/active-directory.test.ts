/**
 * Runs the Active Directory connector end to end: through the host, its bind, its sandbox and its proxy,
 * against a real Samba domain.
 */
import { Attribute, Change, Client } from 'ldapts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCore } from '../core/host.ts'
import { leaving } from '../core/offboarding/leaving.ts'
import { acme } from '../core/policies/acme.ts'
import { company } from '../core/requests/company.ts'
import { errorOf, openedEgresses } from '../egress/fixtures/open-egress.ts'
import { type Directory, egressTo, ldap, startDomain } from '../egress/ldap/directory.ts'
import { connectorClient } from './connector-client.ts'
import { startHost, success, type TestHost } from './host.ts'
import { until } from './until.ts'

type Account = {
  integration_specific_id: string
  username: string
  email: string | null
  user_status: string
  extra_data: { dn: string; sid: string; locked: boolean; expires_at: string | null }
  custom_attributes: Record<string, string> | null
}
type Named = { integration_specific_id: string; label: string; extra_data: { kind: string } }
type Association = { account_id: string; integration_specific_entitlement_id: string }

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const started = await startDomain('samba-ad')
const why = 'why' in started ? started.why : null

describe.skipIf(why !== null)(`the connector of Active Directory${why ? ` (${why})` : ''}`, () => {
  let domain: Directory
  let host: TestHost
  let admin: Client
  /** Ids of people by user name, and of groups by name. */
  const ids = new Map<string, string>()
  const id = (name: string): string => ids.get(name) ?? `${name} is unknown`

  beforeAll(async () => {
    if ('why' in started) return
    domain = started.domain
    const hosts = [domain.url, domain.ldapsUrl].map(
      (url) => `active-directory=${new URL(url).host}`,
    )
    host = await startHost({ env: { KEYWAY_PRIVATE_EGRESS: hosts.join(' ') } })
    admin = new Client({ url: domain.ldapsUrl })
    await admin.bind('administrator@ad.example.test', 'Admin-Secret-1')
    await admin.add(`OU=Left,${people()}`, { objectClass: 'organizationalUnit' })
    for (const one of await all<Account>('list_accounts'))
      ids.set(one.username, one.integration_specific_id)
    for (const one of await all<Named>('list_entitlements'))
      ids.set(one.label, one.integration_specific_id)
  }, 180_000)
  afterAll(async () => {
    await admin?.unbind()
    await host?.stop()
    if ('domain' in started) await started.domain.stop()
  })

  const people = () => `OU=People,${domain.baseDn}`
  const groups = () => `OU=Groups,${domain.baseDn}`
  const user = (number: string) => `CN=user${number},${people()}`

  type Given = { settings?: object; as?: [name: string, password: string] }
  const envelope = (request: object = {}, { settings, as }: Given = {}) => {
    const [username, password] = as ?? [domain.auth.bindDn, domain.auth.password]
    return {
      auth: { basic: { username, password } },
      settings: { url: domain.ldapsUrl, base_dn: domain.baseDn, people_dn: people(), ...settings },
      request,
    }
  }
  const { done, refused, together, all } = connectorClient(() => host, 'active-directory', envelope)

  const account = (account_id: string) => done<Account>('get_account', { account_id })
  const someone = async (username: string, more: object = {}) =>
    (await done<{ id: string }>('create_account', { username, entitlements: [], ...more })).id
  const gone = (account_id: string) => done('delete_account', { account_id })
  const grant = (account_id: string, name: string) => ({
    account_integration_specific_id: account_id,
    resource_integration_specific_id: '',
    resource_type: '',
    entitlement_type: 'GROUP',
    entitlement_integration_specific_id: ids.get(name) ?? name,
  })
  const named = (wanted: string) => [...ids].find(([, one]) => one === wanted)?.[0]
  const heldBy = async (account_id: string, given?: Given) =>
    (await done<Association[]>('get_account_entitlement_associations', { account_id }, given))
      .map((one) => named(one.integration_specific_entitlement_id))
      .sort()
  /** `user group` of every membership. */
  const pairs = async (size: number | undefined, settings: object) =>
    (await all<Association>('find_entitlement_associations', size, { settings }))
      .map((one) => `${named(one.account_id)} ${named(one.integration_specific_entitlement_id)}`)
      .sort()
  const read = async (dn: string, attribute: string): Promise<unknown> =>
    (await admin.search(dn, { scope: 'base', attributes: [attribute] })).searchEntries[0]?.[
      attribute
    ]
  const write = (dn: string, type: string, ...values: string[]) =>
    admin.modify(
      dn,
      new Change({ operation: 'replace', modification: new Attribute({ type, values }) }),
    )
  /** Checks at the domain itself whether an account can log in with a password. */
  const canLogIn = async (name: string, password: string) => {
    const client = new Client({ url: domain.ldapsUrl })
    try {
      await client.bind(`${name}@ad.example.test`, password)
      return true
    } catch {
      return false
    } finally {
      await client.unbind()
    }
  }

  test.each(['ldap', 'ldaps'])(
    'identifies its tenant by the domain’s own id, over %s',
    async (way) => {
      const url = way === 'ldaps' ? domain.ldapsUrl : domain.url
      const found = await done<{ unique_tenant_id: string }>(
        'validate_credentials',
        {},
        {
          settings: { url },
        },
      )
      expect(found).toEqual({ valid: true, unique_tenant_id: expect.stringMatching(GUID) })
    },
  )

  test.each([7, undefined])('lists every account exactly once in pages of %s', async (size) => {
    const found = await all<Account>('list_accounts', size)
    expect(found).toHaveLength(53)
    expect(new Set(found.map((one) => one.integration_specific_id)).size).toBe(53)
    for (const one of found) expect(one.integration_specific_id).toMatch(GUID)
    const off = found.filter((one) => one.user_status === 'SUSPENDED').map((one) => one.username)
    // Two are disabled, one has expired, and three were created without a password.
    expect(off.sort()).toEqual(['odd1', 'odd2', 'odd3', 'user010', 'user020', 'user030'])
    expect(await account(id('user030'))).toMatchObject({
      extra_data: { expires_at: '2020-01-01T00:00:00+00:00' },
    })
  })

  test('lists no computers, and all users of the domain if people_dn is not set', async () => {
    const found = await all<Account>('list_accounts', undefined, {
      settings: { people_dn: undefined },
    })
    const names = found.map((one) => one.username)
    expect(names).toContain('Administrator')
    expect(names.filter((name) => name.endsWith('$'))).toEqual([])
    expect(found).toHaveLength(58)
  })

  test('finds every account by its id, whatever characters its name contains', async () => {
    for (const one of await all<Account>('list_accounts'))
      expect(await account(one.integration_specific_id)).toEqual(one)
  })

  test('returns requested custom attributes, and no secrets', async () => {
    const custom_attributes = ['displayName', 'userPrincipalName', 'unicodePwd', 'title']
    const found = await done<Account>('get_account', {
      account_id: id('user007'),
      custom_attributes,
    })
    expect(found.custom_attributes).toEqual({
      displayName: 'User 007',
      userPrincipalName: 'user007@ad.example.test',
    })
  })

  test.each([
    ['an unknown id', () => '00000000-0000-0000-0000-000000000000'],
    ['a group', () => id('Engineering')],
    ['an invalid id', () => 'user001'],
    ['a person outside people_dn', () => domain.auth.bindDn],
  ])('does not accept %s as an account', async (_what, idOf) => {
    for (const capability of ['get_account', 'delete_account', 'deactivate_account'])
      expect(await refused(capability, { account_id: idOf() })).toMatchObject({
        error_code: 'not_found',
        app_error_code: 'noSuchObject',
      })
  })

  test('creates an account that can log in, be deactivated, activated, renamed and deleted', async () => {
    const made = await someone('ada', {
      given_name: 'Ada',
      family_name: 'Größe 🚀',
      email: 'ada@acme.example',
      password: 'First-secret-1',
    })
    expect(await account(made)).toMatchObject({
      integration_specific_id: made,
      username: 'ada',
      email: 'ada@acme.example',
      family_name: 'Größe 🚀',
      user_status: 'ACTIVE',
    })
    expect(await canLogIn('ada', 'First-secret-1')).toBe(true)
    for (const _twice of [1, 2])
      expect(await done('deactivate_account', { account_id: made })).toEqual({
        status: 'SUSPENDED',
        deactivated: true,
      })
    expect((await account(made)).user_status).toBe('SUSPENDED')
    expect(await canLogIn('ada', 'First-secret-1')).toBe(false)
    for (const _twice of [1, 2]) await done('activate_account', { account_id: made })
    expect(await canLogIn('ada', 'First-secret-1')).toBe(true)

    // The id stays the same after a rename and a move.
    await admin.modifyDN(`CN=ada,${people()}`, `CN=Ada\\, Countess,OU=Left,${people()}`)
    expect((await account(made)).extra_data.dn).toContain('Countess')
    await done('assign_entitlement', grant(made, 'Support'))
    expect(await heldBy(made)).toEqual(['Domain Users', 'Support'])

    await gone(made)
    expect(await refused('get_account', { account_id: made })).toMatchObject({
      error_code: 'not_found',
    })
  })

  test('applies simultaneous changes of one account', async () => {
    const account_id = await someone('together', { password: 'First-secret-1' })
    const support = grant(account_id, 'Support')
    for (const _round of [1, 2, 3]) {
      await together('deactivate_account', { account_id })
      await together('activate_account', { account_id })
      await together('assign_entitlement', support)
      expect(await heldBy(account_id)).toEqual(['Domain Users', 'Support'])
      await together('unassign_entitlement', support)
      await together('update_account', { id: account_id, title: 'Lead' })
    }
    expect(await heldBy(account_id)).toEqual(['Domain Users'])
    expect(await canLogIn('together', 'First-secret-1')).toBe(true)
    await gone(account_id)
  })

  test.each([
    ['its principal name', 'keyway@ad.example.test'],
    ['its principal name in capitals', 'KEYWAY@AD.EXAMPLE.TEST'],
    ['the domain and its logon name', 'AD\\Keyway'],
    ['its DN', 'cn=KEYWAY, OU=people,DC=ad,DC=example,DC=test'],
  ])(
    'neither deactivates, deletes nor gives a new password to the account that it signs in as, named by %s',
    async (_what, name) => {
      const made = await someone('keyway', { password: 'First-secret-1' })
      const admins = await read(`CN=Domain Admins,CN=Users,${domain.baseDn}`, 'distinguishedName')
      try {
        await admin.modify(
          String(admins),
          new Change({
            operation: 'add',
            modification: new Attribute({ type: 'member', values: [`CN=keyway,${people()}`] }),
          }),
        )
        const given: Given = { as: [name, 'First-secret-1'] }
        for (const [capability, request] of [
          ['deactivate_account', { account_id: made }],
          ['delete_account', { account_id: made }],
          ['update_account', { id: made, password: 'Second-secret-2' }],
          ['update_account', { id: made, must_change_password: true }],
        ] as const)
          expect(await refused(capability, request, given)).toMatchObject({
            error_code: 'unsupported_operation',
            app_error_code: 'own_account',
            message: expect.stringContaining('signs in as'),
          })
        expect(await canLogIn('keyway', 'First-secret-1')).toBe(true)
        // It may deactivate other accounts.
        await done('deactivate_account', { account_id: id('user016') }, given)
        await done('activate_account', { account_id: id('user016') }, given)
      } finally {
        await admin.del(`CN=keyway,${people()}`)
      }
    },
  )

  test('keeps the other bits of userAccountControl', async () => {
    // Its password never expires.
    await write(user('011'), 'userAccountControl', String(0x10200))
    await done('deactivate_account', { account_id: id('user011') })
    expect(await read(user('011'), 'userAccountControl')).toBe(String(0x10202))
    await done('activate_account', { account_id: id('user011') })
    expect(await read(user('011'), 'userAccountControl')).toBe(String(0x10200))
  })

  test('moves deactivated accounts to disabled_dn, and back', async () => {
    const settings = { disabled_dn: `OU=Left,${people()}` }
    const account_id = id('odd1')
    for (const _twice of [1, 2]) await done('deactivate_account', { account_id }, { settings })
    expect((await account(account_id)).extra_data.dn).toMatch(/^CN=Doe\\.* Jane,OU=Left,/)
    await write(user('012'), 'description', 'stays')
    await done('deactivate_account', { account_id: id('user012') }, { settings })
    await done('activate_account', { account_id: id('user012') }, { settings })
    expect(await account(id('user012'))).toMatchObject({
      user_status: 'ACTIVE',
      extra_data: { dn: user('012') },
    })
    // The name is taken at the target: the account is disabled, but not moved.
    await admin.add(`CN=user013,OU=Left,${people()}`, { objectClass: 'contact' })
    await done('deactivate_account', { account_id: id('user013') }, { settings })
    expect(await account(id('user013'))).toMatchObject({
      user_status: 'SUSPENDED',
      extra_data: { dn: user('013') },
    })
    await done('activate_account', { account_id: id('user013') }, { settings })
    await admin.del(`CN=user013,OU=Left,${people()}`)
  })

  test('refuses a disabled_dn where accounts would not be found', async () => {
    const settings = { disabled_dn: groups() }
    expect(await refused('validate_credentials', {}, { settings })).toMatchObject({
      error_code: 'invalid_value',
      message: expect.stringContaining('disabled_dn'),
    })
  })

  test('activates accounts that are locked out or have expired', async () => {
    await admin.modify(
      domain.baseDn,
      new Change({
        operation: 'replace',
        modification: new Attribute({ type: 'lockoutThreshold', values: ['3'] }),
      }),
    )
    for (const _time of [1, 2, 3, 4]) expect(await canLogIn('user014', 'wrong')).toBe(false)
    expect(await account(id('user014'))).toMatchObject({
      user_status: 'ACTIVE',
      extra_data: { locked: true },
    })
    expect(await canLogIn('user014', 'Pw-014-secret')).toBe(false)
    await done('activate_account', { account_id: id('user014') })
    expect(await canLogIn('user014', 'Pw-014-secret')).toBe(true)
    await write(domain.baseDn, 'lockoutThreshold', '0')

    await write(user('015'), 'accountExpires', '132223104000000000')
    expect(await canLogIn('user015', 'Pw-015-secret')).toBe(false)
    await done('activate_account', { account_id: id('user015') })
    expect(await canLogIn('user015', 'Pw-015-secret')).toBe(true)
    expect(await account(id('user015'))).toMatchObject({
      user_status: 'ACTIVE',
      extra_data: { expires_at: null },
    })
  })

  test('updates given fields, removes empty ones, and keeps the mail system’s addresses', async () => {
    const made = await someone('changing', { title: 'Lead', password: 'First-secret-1' })
    const dn = `CN=changing,${people()}`
    await write(dn, 'proxyAddresses', 'SMTP:old@acme.example', 'smtp:older@acme.example')
    const change = {
      id: made,
      email: 'new@acme.example',
      given_name: 'Grace',
      title: '',
      password: 'Next-secret-1',
    }
    expect(await done('update_account', change)).toMatchObject({ id: made })
    expect(
      await done('get_account', { account_id: made, custom_attributes: ['title'] }),
    ).toMatchObject({ given_name: 'Grace', email: 'new@acme.example', custom_attributes: {} })
    expect(await read(dn, 'proxyAddresses')).toHaveLength(2)
    expect(await canLogIn('changing', 'Next-secret-1')).toBe(true)
    await done('update_account', { id: made, must_change_password: true })
    expect(await canLogIn('changing', 'Next-secret-1')).toBe(false)
    expect(await refused('update_account', { id: made, password: 'weak' })).toMatchObject({
      error_code: 'invalid_value',
      app_error_code: 'constraintViolation',
    })
    await gone(made)
    expect(host.lines.join('\n')).not.toContain('Next-secret-1')
  })

  test('reports which part of an update was applied when the rest is refused', async () => {
    const made = await someone('halfway', { password: 'First-secret-1' })
    const change = { id: made, password: 'Next-secret-1', title: 'x'.repeat(200) }
    expect(await refused('update_account', change)).toMatchObject({
      message: expect.stringMatching(/left behind: the new password \(it is set/),
    })
    expect(await canLogIn('halfway', 'Next-secret-1')).toBe(true)
    await refused('update_account', { id: made, password: 'weak', title: 'Lead' })
    expect(await read(`CN=halfway,${people()}`, 'title')).toEqual([])
    await gone(made)
  })

  test.each([
    ['people_dn itself', () => people()],
    ['the parent of people_dn', () => domain.baseDn],
    ['a container outside people_dn', () => `OU=Left,OU=Elsewhere,${domain.baseDn}`],
  ])('moves no account to %s', async (_what, place) => {
    const settings = { disabled_dn: place() }
    expect(await refused('validate_credentials', {}, { settings })).toMatchObject({
      error_code: 'invalid_value',
      message: expect.stringContaining('disabled_dn'),
    })
    const account_id = id('user017')
    expect(await refused('deactivate_account', { account_id }, { settings })).toMatchObject({
      error_code: 'invalid_value',
      message: expect.stringContaining('disabled_dn'),
    })
    expect(await account(account_id)).toMatchObject({
      user_status: 'ACTIVE',
      extra_data: { dn: user('017') },
    })
  })

  test.each([
    ['disabled_dn', () => `OU=Left,${people()}`],
    ['a container below disabled_dn', () => `OU=Again,OU=Left,${people()}`],
  ])('does not accept %s as new_accounts_dn', async (_what, place) => {
    const settings = { disabled_dn: `OU=Left,${people()}`, new_accounts_dn: place() }
    const account_id = id('user017')
    for (const [capability, request] of [
      ['validate_credentials', {}],
      ['create_account', { username: 'nowhere', entitlements: [] }],
      ['deactivate_account', { account_id }],
      ['activate_account', { account_id }],
    ] as const)
      expect(await refused(capability, request, { settings })).toMatchObject({
        error_code: 'invalid_value',
        message: expect.stringMatching(/^new_accounts_dn .* lies in disabled_dn/),
      })
  })

  test('creates accounts with an unknown password, and deactivated ones', async () => {
    const unknown = await someone('no-password')
    expect((await account(unknown)).user_status).toBe('ACTIVE')
    expect(await canLogIn('no-password', '')).toBe(false)
    const entitlements = [{ entitlement_type: 'GROUP', integration_specific_id: id('Support') }]
    const off = await someone('prepared', { user_status: 'SUSPENDED', entitlements })
    expect(await account(off)).toMatchObject({ user_status: 'SUSPENDED' })
    expect(await heldBy(off)).toEqual(['Domain Users', 'Support'])
    for (const one of [unknown, off]) await gone(one)
  })

  test.each([
    [
      'a name that is already used',
      { username: 'user001' },
      { error_code: 'bad_request', app_error_code: 'entryAlreadyExists' },
    ],
    [
      'a password that the policy refuses',
      { username: 'half', password: 'short' },
      { error_code: 'invalid_value', app_error_code: 'constraintViolation' },
    ],
    [
      'an invalid name',
      { username: '*)(cn=*' },
      { error_code: 'invalid_value', app_error_code: 'constraintViolation' },
    ],
    [
      'a missing group',
      {
        username: 'half',
        entitlements: [{ entitlement_type: 'GROUP', integration_specific_id: 'none' }],
      },
      { error_code: 'not_found', app_error_code: 'noSuchObject' },
    ],
    ['another status', { username: 'half', user_status: 'GONE' }, { error_code: 'invalid_value' }],
    ['no name', {}, { error_code: 'integration_missing_parameter' }],
  ])('creates no account with %s', async (_what, request, error) => {
    const before = (await all<Account>('list_accounts')).length
    expect(await refused('create_account', { entitlements: [], ...request })).toMatchObject(error)
    expect(await all('list_accounts')).toHaveLength(before)
  })

  test('lists the groups of the domain, or of groups_dn', async () => {
    const found = await all<Named>('list_entitlements', 10)
    const labels = found.map(({ label }) => label)
    for (const name of ['Engineering', 'Company', 'Domain Users', 'Administrators'])
      expect(labels).toContain(name)
    expect(found.every(({ extra_data }) => extra_data.kind === 'security')).toBe(true)
    const placed = await all<Named>('list_entitlements', undefined, {
      settings: { groups_dn: groups() },
    })
    expect(placed.map(({ label }) => label).sort()).toEqual([
      ...['Company', 'Contractors', 'Engineering', 'Everyone', 'Staff', 'Support'],
    ])
  })

  test('lists memberships, including that of the primary group', async () => {
    const settings = { groups_dn: groups() }
    const found = await pairs(7, settings)
    expect(new Set(found).size).toBe(found.length)
    const count = (name: string) => found.filter((one) => one.endsWith(` ${name}`)).length
    expect(['Engineering', 'Support', 'Contractors', 'Staff', 'Everyone'].map(count)).toEqual([
      ...[10, 8, 1, 0, 50],
    ])
    expect(found).toContain('user005 Contractors')
    const ofDomain = await pairs(undefined, {})
    const inUsers = ofDomain.filter((one) => one.endsWith(' Domain Users'))
    expect(inUsers).toHaveLength(53)
    expect(await heldBy(id('user005'))).toEqual(['Contractors', 'Domain Users', 'Everyone'])
  })

  test('finds memberships through nested groups and primary groups', async () => {
    await admin.modify(
      `CN=Staff,${groups()}`,
      new Change({
        operation: 'add',
        modification: new Attribute({ type: 'member', values: [`CN=Contractors,${groups()}`] }),
      }),
    )
    const given = { settings: { associations: 'effective', groups_dn: groups() } }
    const found = await pairs(7, given.settings)
    const company = found.filter((one) => one.endsWith(' Company'))
    // 10 + 8, of which 5 are in both, and one by the primary group.
    expect(company).toHaveLength(14)
    expect(company).toContain('user005 Company')
    expect(await heldBy(id('user005'), given)).toEqual([
      ...['Company', 'Contractors', 'Everyone', 'Staff'],
    ])
    await done('assign_entitlement', grant(id('user001'), 'Company'), given)
    expect(
      await refused('unassign_entitlement', grant(id('user001'), 'Company'), given),
    ).toMatchObject({
      error_code: 'unsupported_operation',
      app_error_code: 'held_in_another_way',
    })
  })

  test('adds accounts to groups and removes them; a repetition causes no error', async () => {
    for (const name of ['user021', 'odd2', 'odd3']) {
      for (const _twice of [1, 2]) await done('assign_entitlement', grant(id(name), 'Contractors'))
      expect(await heldBy(id(name))).toContain('Contractors')
      for (const _twice of [1, 2])
        await done('unassign_entitlement', grant(id(name), 'Contractors'))
      expect(await heldBy(id(name))).not.toContain('Contractors')
    }
  })

  test('assigns the primary group without a change, and refuses to remove it', async () => {
    const primary = grant(id('user005'), 'Contractors')
    expect(await done('assign_entitlement', primary)).toEqual({ assigned: true })
    expect(await refused('unassign_entitlement', primary)).toMatchObject({
      error_code: 'unsupported_operation',
      app_error_code: 'primary_group',
    })
  })

  test('refuses to add an unknown account to a group, and an account to what is not a group', async () => {
    for (const request of [
      grant('00000000-0000-0000-0000-000000000000', 'Support'),
      grant(id('user001'), 'none'),
      grant(id('user001'), 'user002'),
    ])
      expect(await refused('assign_entitlement', request)).toMatchObject({
        error_code: 'not_found',
      })
  })

  test('applies simultaneous changes of one group, and of one account', async () => {
    const names = ['user031', 'user032', 'user033', 'user034']
    const grants = names.map((name) => grant(id(name), 'Contractors'))
    await Promise.all([...grants, ...grants].map((one) => done('assign_entitlement', one)))
    for (const name of names) expect(await heldBy(id(name))).toContain('Contractors')
    await Promise.all([...grants, ...grants].map((one) => done('unassign_entitlement', one)))
    for (const name of names) expect(await heldBy(id(name))).not.toContain('Contractors')
    const request = { account_id: id('user035') }
    await Promise.all([1, 2, 3].map(() => done('deactivate_account', request)))
    expect((await account(id('user035'))).user_status).toBe('SUSPENDED')
    await done('activate_account', request)
  })

  test('lists every other account exactly once while accounts are added and deleted between pages', async () => {
    const leaving = await someone('leaving')
    const first = await host.call('active-directory', 'list_accounts', {
      ...envelope(),
      page: { size: 20 },
    })
    const found = success<Account[]>(first.body).map((one) => one.integration_specific_id)
    await gone(leaving)
    const coming = await someone('coming')
    let token = first.body.page?.token ?? null
    while (token !== null) {
      const page = { size: 20, token }
      const next = await host.call('active-directory', 'list_accounts', { ...envelope(), page })
      found.push(...success<Account[]>(next.body).map((one) => one.integration_specific_id))
      token = next.body.page?.token ?? null
    }
    await gone(coming)
    const stayed = found.filter((one) => one !== leaving && one !== coming)
    expect(stayed).toHaveLength(53)
    expect(new Set(stayed).size).toBe(53)
  })

  test('reports the last logon of accounts', async () => {
    expect(await canLogIn('user016', 'Pw-016-secret')).toBe(true)
    const account_ids = [id('user016'), id('user017'), '00000000-0000-0000-0000-000000000000']
    expect(await done('get_last_activity', { account_ids })).toEqual([
      {
        account_id: id('user016'),
        event_type: 'last_login',
        happened_at: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/),
      },
    ])
  })

  const INVALID = { error_code: 'unauthenticated', app_error_code: 'invalidCredentials' }
  test.each<[string, () => Given, string, () => object, object]>([
    [
      'a wrong password',
      () => ({ as: [domain.auth.bindDn, 'not the password'] }),
      'list_accounts',
      () => ({}),
      { ...INVALID, message: expect.stringContaining('wrong') },
    ],
    [
      'an unknown user',
      () => ({ as: ['nobody@ad.example.test', 'x'] }),
      'validate_credentials',
      () => ({}),
      INVALID,
    ],
    [
      'a disabled user',
      () => ({ as: ['user010@ad.example.test', 'Pw-010-secret'] }),
      'validate_credentials',
      () => ({}),
      { ...INVALID, message: expect.stringContaining('disabled') },
    ],
    [
      'an expired user',
      () => ({ as: ['user030@ad.example.test', 'Pw-030-secret'] }),
      'validate_credentials',
      () => ({}),
      { ...INVALID, message: expect.stringContaining('expired') },
    ],
    [
      'a user who must change the password',
      () => ({ as: ['user040@ad.example.test', 'Pw-040-secret'] }),
      'validate_credentials',
      () => ({}),
      { ...INVALID, message: expect.stringContaining('must be changed') },
    ],
    [
      'a write by a read-only user',
      () => ({ as: ['reader@ad.example.test', 'Reader-Secret-1'] }),
      'deactivate_account',
      () => ({ account_id: id('user003') }),
      { error_code: 'permission_denied', app_error_code: 'insufficientAccessRights' },
    ],
    [
      'a group that the connector has no right to',
      () => ({}),
      'assign_entitlement',
      () => grant(id('user003'), 'Domain Admins'),
      { error_code: 'permission_denied', app_error_code: 'insufficientAccessRights' },
    ],
    [
      'a missing people_dn',
      () => ({ settings: { people_dn: `OU=None,${domain.baseDn}` } }),
      'list_accounts',
      () => ({}),
      { error_code: 'not_found', app_error_code: 'noSuchObject' },
    ],
    [
      'a refused value',
      () => ({}),
      'update_account',
      () => ({ id: id('user003'), department: 'x'.repeat(100) }),
      { error_code: 'invalid_value' },
    ],
  ])('reports %s with its error code', async (_what, given, capability, request, error) => {
    expect(await refused(capability, request(), given())).toMatchObject({
      raised_by: 'LDAPError',
      ...error,
    })
  })

  test('reports that the domain requires encryption if the operator allows plain text', async () => {
    const error = await errorOf(
      egressTo(domain).fetch(ldap('SEARCH', { base: domain.baseDn, scope: 'base' })),
    )
    for (const one of openedEgresses.splice(0)) await one.close()
    expect([error.details, error.message]).toMatchObject([
      { wire: 'unauthenticated', appErrorCode: 'strongerAuthRequired' },
      expect.stringMatching(/encrypted/),
    ])
  })

  test('reads all values of an attribute that a domain controller returns in ranges', async () => {
    const client = egressTo({ ...domain, url: domain.ldapsUrl })
    const body = { base: `CN=Everyone,${groups()}`, attributes: ['member;range=0-1499'] }
    const { entries } = JSON.parse(String((await client.fetch(ldap('SEARCH', body))).body))
    for (const one of openedEgresses.splice(0)) await one.close()
    expect(new Set(entries[0].attributes.member).size).toBe(1600)
    expect(Object.keys(entries[0].attributes)).toEqual(['member'])
  })

  test('provisions an account and a group by policy, and disables the account of a leaver', async () => {
    const core = await startCore({
      KEYWAY_PRIVATE_EGRESS: `active-directory=${new URL(domain.ldapsUrl).host}`,
    })
    try {
      await core.host.settled
      const [staff, leavers] = [acme(core), leaving(core)]
      const app = await company(core).connected({
        app_class_id: 'active-directory',
        auth: { username: domain.auth.bindDn, password: domain.auth.password },
        settings: { ...envelope().settings, disabled_dn: `OU=Left,${people()}` },
      })
      await core.call('POST', `/apps/${app}/sync`, { body: { sync_type: 'full_sync' } })
      await until(
        'the sync succeeds',
        async () => (await core.call('GET', `/apps/${app}`)).body.sync_status === 'SUCCESS',
      )
      const path = `/appstore/requestable_permissions?app_id=${app}&search_term=Engineering&size=100`
      const { items } = (await core.call('GET', path)).body
      await staff.policy('Building', [
        { id: app, is_preapproved: true, permissions: [{ id: items[0].id }] },
      ])
      const grace = await staff.worker('grace.hopper.of.the.navy', 'Building')
      await staff.reach(grace.id, 'COMPLETED')
      const dn = (place: string) => `CN=grace.hopper.of.the.navy,${place}`
      expect(await read(dn(people()), 'memberOf')).toBe(`CN=Engineering,${groups()}`)
      expect(await read(dn(people()), 'userAccountControl')).toBe('512')

      await leavers.reaches(await leavers.offboard(grace.id), 'COMPLETED')
      expect(await read(dn(`OU=Left,${people()}`), 'userAccountControl')).toBe('514')
      await staff.reach(grace.id, 'REVERTED')
      expect(await read(dn(`OU=Left,${people()}`), 'memberOf')).toEqual([])
    } finally {
      await core.stop()
    }
  }, 180_000)
})
