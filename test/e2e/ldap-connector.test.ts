/**
 * Runs the LDAP connector end to end: through the host, its bind, its sandbox and its proxy, against a real
 * OpenLDAP.
 */
import { Attribute, Change, Client } from 'ldapts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCore } from '../core/host.ts'
import { leaving } from '../core/offboarding/leaving.ts'
import { acme } from '../core/policies/acme.ts'
import { company } from '../core/requests/company.ts'
import { type Directory, noDirectory, startDirectory } from '../egress/ldap/directory.ts'
import { connectorClient } from './connector-client.ts'
import { startHost, success, type TestHost } from './host.ts'
import { until } from './until.ts'

type Account = {
  integration_specific_id: string
  username: string
  email: string | null
  user_status: string
  extra_data: { dn: string }
  custom_attributes: Record<string, string> | null
}
type Named = { integration_specific_id: string; label: string }
type Association = { account_id: string; integration_specific_entitlement_id: string }

/** Names with the special characters of DNs, filters and URLs. */
const ODD = [
  'Doe, Jane',
  'R+D Lead',
  'Bob "Bobby" Quote',
  ' leading space',
  'Jürgen Größe',
  'Rocket 🚀',
  '#hash',
  'back\\slash',
  'a=b;c<d>e',
  '*)(uid=*',
]

/** Number of members of the only group in ou=huge. */
const HUGE = 100_000

describe.skipIf(noDirectory !== null)(
  `the LDAP connector${noDirectory ? ` (${noDirectory})` : ''}`,
  () => {
    let directory: Directory
    let host: TestHost
    let admin: Client

    beforeAll(async () => {
      directory = await startDirectory({ PAGE: '25', HUGE: String(HUGE) })
      const hosts = [directory.url, directory.ldapsUrl].map((url) => `ldap=${new URL(url).host}`)
      host = await startHost({ env: { KEYWAY_PRIVATE_EGRESS: hosts.join(' ') } })
      admin = new Client({ url: directory.url })
      await admin.bind(`cn=admin,${directory.baseDn}`, 'admin-secret')
    }, 180_000)
    afterAll(async () => {
      await admin?.unbind()
      await host?.stop()
      await directory?.stop()
    })

    const people = () => `ou=people,${directory.baseDn}`
    const group = (name: string) => `cn=${name},ou=groups,${directory.baseDn}`
    const user = (number: string) => `uid=user${number},${people()}`

    type Given = { settings?: object; as?: [dn: string, password: string] }
    const envelope = (request: object = {}, { settings, as }: Given = {}) => {
      const { bindDn, password } = directory.auth
      const [dn, secret] = as ?? [bindDn, password]
      return {
        auth: { basic: { username: dn, password: secret } },
        settings: {
          url: directory.url,
          people_dn: people(),
          groups_dn: `ou=groups,${directory.baseDn}`,
          page_size: 25,
          ...settings,
        },
        request,
      }
    }
    const { done, refused, together, all } = connectorClient(() => host, 'ldap', envelope)

    const someone = async (username: string, more: object = {}) =>
      (await done<{ id: string }>('create_account', { username, entitlements: [], ...more })).id
    const gone = (account_id: string) => done('delete_account', { account_id })
    const grant = (account: string, name: string) => ({
      account_integration_specific_id: account,
      resource_integration_specific_id: '',
      resource_type: '',
      entitlement_type: 'GROUP',
      entitlement_integration_specific_id: group(name),
    })
    const heldBy = async (account_id: string, given?: Given) =>
      (await done<Association[]>('get_account_entitlement_associations', { account_id }, given))
        .map((one) => /^cn=(\w+),/.exec(one.integration_specific_entitlement_id)?.[1])
        .sort()
    /** Checks at the server itself whether an account can log in with a password. */
    const canLogIn = async (dn: string, password: string) => {
      const client = new Client({ url: directory.url })
      try {
        await client.bind(dn, password)
        return true
      } catch {
        return false
      } finally {
        await client.unbind()
      }
    }

    test.each(['ldap', 'ldaps'])(
      'identifies its tenant by the directory’s own id, over %s',
      async (way) => {
        const { searchEntries } = await admin.search(people(), {
          scope: 'base',
          attributes: ['entryUUID'],
        })
        const url = way === 'ldaps' ? directory.ldapsUrl : directory.url
        expect(await done('validate_credentials', {}, { settings: { url } })).toEqual({
          valid: true,
          unique_tenant_id: searchEntries[0]?.['entryUUID'],
        })
      },
    )

    test.each([7, 25, undefined])(
      'lists every account exactly once in pages of %s',
      async (size) => {
        const pages = await host.pages<Account>('ldap', 'list_accounts', envelope(), size)
        expect(Math.max(...pages.map(({ length }) => length))).toBe(size ?? 25)
        const found = pages.flat()
        expect(new Set(found.map((one) => one.integration_specific_id)).size).toBe(60)
        expect(found).toHaveLength(60)
        const off = found
          .filter((one) => one.user_status === 'SUSPENDED')
          .map((one) => one.username)
        expect(off.sort()).toEqual(['user025', 'user050'])
      },
    )

    test('applies simultaneous changes of one account', async () => {
      const account_id = await someone('many at once', { password: 'first-secret' })
      const reader = grant(account_id, 'sales')
      for (const _round of [1, 2, 3]) {
        await together('deactivate_account', { account_id })
        await together('activate_account', { account_id })
        await together('assign_entitlement', reader)
        expect(await heldBy(account_id)).toEqual(['sales'])
        await together('unassign_entitlement', reader)
        await together('update_account', {
          id: account_id,
          password: 'second-secret',
          title: 'Lead',
        })
      }
      expect(await heldBy(account_id)).toEqual([])
      expect(await canLogIn(account_id, 'second-secret')).toBe(true)
      await gone(account_id)
    })

    test('finds every account by its id, whatever characters its name contains', async () => {
      for (const account of await all<Account>('list_accounts')) {
        const found = await done<Account>('get_account', {
          account_id: account.integration_specific_id,
        })
        expect(found).toEqual(account)
      }
    })

    test('finds an account by another spelling of its DN', async () => {
      const account_id = `CN=Doe\\, Jane, OU=People,${directory.baseDn}`
      const found = await done<Account>('get_account', { account_id })
      expect(found).toMatchObject({
        integration_specific_id: `cn=doe\\2c jane,${people()}`,
        username: 'odd1',
      })
    })

    test('returns requested custom attributes, and no password', async () => {
      const custom_attributes = ['employeeNumber', 'displayName', 'userPassword', 'title']
      const request = { account_id: user('007'), custom_attributes }
      expect((await done<Account>('get_account', request)).custom_attributes).toEqual({
        employeeNumber: '7',
        displayName: 'User 007',
      })
    })

    test('returns null for missing attributes, and large numbers unchanged', async () => {
      const settings = { people_dn: `ou=bulk,${directory.baseDn}`, person_class: 'account' }
      const request = { account_id: `uid=bulk0001,ou=bulk,${directory.baseDn}` }
      expect(await done<Account>('get_account', request, { settings })).toMatchObject({
        username: 'bulk0001',
        ...{ email: null, given_name: null, family_name: null, custom_attributes: null },
      })
      const modification = new Attribute({ type: 'employeeNumber', values: ['9007199254740993'] })
      await admin.modify(user('008'), new Change({ operation: 'replace', modification }))
      const asked = { account_id: user('008'), custom_attributes: ['employeeNumber', 'title'] }
      expect((await done<Account>('get_account', asked)).custom_attributes).toEqual({
        employeeNumber: '9007199254740993',
      })
    })

    test.each([
      ['an unknown DN', () => `uid=nobody,${people()}`],
      ['a group', () => group('sales')],
      ['people_dn', () => people()],
      ['an entry outside people_dn', () => directory.auth.bindDn],
      ['an invalid DN', () => 'user001'],
    ])('does not accept %s as an account', async (_what, idOf) => {
      for (const capability of ['get_account', 'delete_account', 'deactivate_account'])
        expect(await refused(capability, { account_id: idOf() })).toMatchObject({
          error_code: 'not_found',
          app_error_code: 'noSuchObject',
        })
    })

    test.each(ODD)(
      'creates %j, which can log in, be deactivated, activated and deleted',
      async (name) => {
        const email = `${Buffer.from(name).toString('hex')}@example.test`
        const given = {
          given_name: 'Ada',
          family_name: name.trim(),
          email,
          password: 'first-secret',
        }
        const id = await someone(name, given)
        const account = await done<Account>('get_account', { account_id: id })
        expect(account).toMatchObject({ integration_specific_id: id, email, user_status: 'ACTIVE' })
        expect(account.username.trim()).toBe(name.trim())
        expect(await canLogIn(id, 'first-secret')).toBe(true)

        await done('assign_entitlement', grant(id, 'sales'))
        await done('assign_entitlement', grant(id, 'sales'))
        expect(await heldBy(id)).toEqual(['sales'])
        await done('unassign_entitlement', grant(id, 'sales'))
        await done('unassign_entitlement', grant(id, 'sales'))
        expect(await heldBy(id)).toEqual([])

        for (const _twice of [1, 2])
          expect(await done('deactivate_account', { account_id: id })).toEqual({
            status: 'SUSPENDED',
            deactivated: true,
          })
        expect((await done<Account>('get_account', { account_id: id })).user_status).toBe(
          'SUSPENDED',
        )
        expect(await canLogIn(id, 'first-secret')).toBe(false)
        for (const _twice of [1, 2]) await done('activate_account', { account_id: id })
        expect(await canLogIn(id, 'first-secret')).toBe(true)

        await gone(id)
        expect(await refused('get_account', { account_id: id })).toMatchObject({
          error_code: 'not_found',
        })
      },
    )

    test('updates given fields, removes empty ones, and sets a password', async () => {
      const id = await someone('changing', { title: 'Lead', password: 'first-secret' })
      const change = {
        id,
        given_name: 'Grace',
        family_name: 'Hopper',
        title: '',
        password: 'next-secret',
      }
      expect(await done('update_account', change)).toMatchObject({ id })
      const found = await done<Account & { given_name: string; family_name: string }>(
        'get_account',
        {
          account_id: id,
          custom_attributes: ['title'],
        },
      )
      expect(found).toMatchObject({
        given_name: 'Grace',
        family_name: 'Hopper',
        custom_attributes: {},
      })
      expect(await canLogIn(id, 'first-secret')).toBe(false)
      expect(await canLogIn(id, 'next-secret')).toBe(true)
      await gone(id)
      expect(host.lines.join('\n')).not.toContain('next-secret')
    })

    test.each([
      ['has expired', 'pwdEndTime', '20250101000000Z'],
      ['has expired in another time zone', 'pwdEndTime', '20250101000000.5+0530'],
      ['is not yet valid', 'pwdStartTime', '29990101000000Z'],
      ['is not yet valid in another time zone', 'pwdStartTime', '2999010100-05'],
    ])(
      'reports an account that %s as suspended, until it is activated',
      async (...[, type, time]) => {
        const id = await someone('temporary', { password: 'first-secret' })
        const modification = new Attribute({ type, values: [time] })
        await admin.modify(id, new Change({ operation: 'replace', modification }))
        expect(await canLogIn(id, 'first-secret')).toBe(false)
        const told = async () =>
          (await done<Account>('get_account', { account_id: id })).user_status
        expect(await told()).toBe('SUSPENDED')
        await done('activate_account', { account_id: id })
        expect(await told()).toBe('ACTIVE')
        expect(await canLogIn(id, 'first-secret')).toBe(true)
        await gone(id)
      },
    )

    test('creates a deactivated account with its groups', async () => {
      const entitlements = [
        { entitlement_type: 'GROUP', integration_specific_id: group('support') },
      ]
      const id = await someone('prepared', { user_status: 'SUSPENDED', entitlements })
      expect(await heldBy(id)).toEqual(['support'])
      await gone(id)
      const { searchEntries } = await admin.search(group('support'), { attributes: ['member'] })
      expect(JSON.stringify(searchEntries)).not.toContain('prepared')
    })

    test.each([
      [
        'a name that is already used',
        { username: 'user001' },
        { error_code: 'bad_request', app_error_code: 'entryAlreadyExists' },
      ],
      [
        'an address that is already used',
        { username: 'half', email: 'user001@example.test' },
        { error_code: 'invalid_value', app_error_code: 'constraintViolation' },
      ],
      [
        'a password that the policy refuses',
        { username: 'half', password: 'short' },
        { error_code: 'invalid_value', app_error_code: 'constraintViolation' },
      ],
      [
        'a missing group',
        {
          username: 'half',
          entitlements: [{ entitlement_type: 'GROUP', integration_specific_id: 'cn=none' }],
        },
        { error_code: 'not_found', app_error_code: 'noSuchObject' },
      ],
      [
        'another status',
        { username: 'half', user_status: 'GONE' },
        { error_code: 'invalid_value' },
      ],
      ['no name', {}, { error_code: 'integration_missing_parameter' }],
    ])('creates no account with %s', async (_what, request, error) => {
      const answer = await refused('create_account', { entitlements: [], ...request })
      expect(answer).toMatchObject(error)
      const account_id = `uid=half,${people()}`
      expect(await refused('get_account', { account_id })).toMatchObject({
        error_code: 'not_found',
      })
    })

    test('lists every kind of group', async () => {
      const found = await all<Named>('list_entitlements', 3)
      expect(found.map(({ label }) => label).sort()).toEqual(
        [
          ...['admins', 'company', 'engineering', 'everyone', 'sales', 'solo', 'staff', 'support'],
          ...['unique', 'unix'],
        ].sort(),
      )
    })

    test('adds and removes members of groups that name them by DN and by user name', async () => {
      const id = await someone('member,x')
      for (const name of ['unique', 'unix']) {
        await done('assign_entitlement', grant(id, name))
        await done('assign_entitlement', grant(id, name))
      }
      expect(await heldBy(id)).toEqual(['unique', 'unix'])
      for (const name of ['unique', 'unix']) {
        await done('unassign_entitlement', grant(id, name))
        await done('unassign_entitlement', grant(id, name))
      }
      expect(await heldBy(id)).toEqual([])
      await gone(id)
    })

    /** All memberships, as `account group`. */
    const pairs = async (size: number | undefined, settings: object) =>
      (await all<Association>('find_entitlement_associations', size, { settings }))
        .map((one) => `${one.account_id} ${one.integration_specific_entitlement_id}`)
        .sort()

    test('lists the same memberships from groups and from people, where both have them', async () => {
      const found = await pairs(7, {})
      expect(new Set(found).size).toBe(found.length)
      // 60 in everyone, 12 + 6 + 8, admins, solo. The attribute memberOf does not cover unique and unix.
      const named = found.filter((one) => !/cn=(unique|unix),/.test(one))
      expect(named).toHaveLength(60 + 12 + 6 + 8 + 1 + 1)
      expect(found.filter((one) => !named.includes(one))).toEqual(
        [
          `${user('003')} ${group('unique')}`,
          `${user('003')} ${group('unix')}`,
          `cn=doe\\2c jane,${people()} ${group('unique')}`,
          `cn=doe\\2c jane,${people()} ${group('unix')}`,
        ].sort(),
      )
      expect(await pairs(7, { memberships: 'people' })).toEqual(named)
      expect(await pairs(undefined, {})).toEqual(found)
    })

    test('reads a group of 5,000 members at most twice, not once per page', async () => {
      const dn = group('crowd')
      const member = Array.from({ length: 5000 }, (_, n) => `uid=crowd${n},${people()}`)
      await admin.add(dn, { objectClass: 'groupOfNames', member })
      const from = host.lines.length
      const found = await pairs(1000, {})
      await admin.del(dn)
      expect(found.filter((one) => one.endsWith(` ${dn}`))).toHaveLength(5000)
      // Its members alone take about 190,000 bytes.
      const whole = host.lines
        .slice(from)
        .filter((line) => Number(/"receivedBytes":(\d+)/.exec(line)?.[1]) > 100_000)
      expect(whole.length).toBeGreaterThan(0)
      expect(whole.length).toBeLessThanOrEqual(2)
    })

    test('reads a group of 100,000 members in pages of limited size, within its memory limit', async () => {
      const settings = { groups_dn: `ou=huge,${directory.baseDn}` }
      const pages = await host.pages<Association>(
        'ldap',
        'find_entitlement_associations',
        envelope({}, { settings }),
        1000,
      )
      expect(new Set(pages.flat().map((one) => one.account_id)).size).toBe(HUGE)
      expect(pages.flat()).toHaveLength(HUGE)
      expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(8000)
      expect(host.lines.filter((line) => /memory limit/i.test(line))).toEqual([])
    }, 120_000)

    test('finds memberships through nested groups', async () => {
      const effective = { associations: 'effective' }
      const found = await pairs(undefined, effective)
      const inCompany = found.filter((one) => one.endsWith(group('company')))
      const inStaff = found.filter((one) => one.endsWith(group('staff')))
      expect(inStaff).toHaveLength(12)
      expect(inCompany).toHaveLength(
        new Set([
          ...inStaff.map((one) => one.split(' cn=')[0]),
          ...found.filter((one) => one.endsWith(group('sales'))).map((one) => one.split(' cn=')[0]),
        ]).size,
      )
      const fromPeople = await pairs(25, { ...effective, memberships: 'people' })
      expect(fromPeople).toEqual(found.filter((one) => !/cn=(unique|unix),/.test(one)))
      expect(await heldBy(user('001'), { settings: effective })).toEqual([
        ...['admins', 'company', 'engineering', 'everyone', 'staff', 'support'],
      ])
    })

    test('does not loop on groups that contain each other', async () => {
      const circle = ['one', 'two']
      const id = await someone('in-a-circle')
      for (const [at, name] of circle.entries())
        await admin.add(group(name), {
          objectClass: 'groupOfNames',
          member: [group(circle[1 - at] as string), ...(at === 0 ? [id] : [])],
        })
      const settings = { associations: 'effective' }
      expect(await heldBy(id, { settings })).toEqual(['one', 'two'])
      const found = await pairs(undefined, settings)
      expect(found.filter((one) => one.startsWith(id))).toHaveLength(2)
      expect(await refused('unassign_entitlement', grant(id, 'two'), { settings })).toMatchObject({
        error_code: 'unsupported_operation',
        app_error_code: 'held_in_another_way',
      })
      for (const name of circle) await admin.del(group(name))
      await gone(id)
    })

    test('removes the last member of a group only if empty_group_member is set', async () => {
      const last = grant(user('002'), 'solo')
      expect(await refused('unassign_entitlement', last)).toMatchObject({
        error_code: 'unsupported_operation',
        app_error_code: 'objectClassViolation',
        message: expect.stringContaining('empty_group_member'),
      })
      const given = { settings: { empty_group_member: group('solo') } }
      await done('unassign_entitlement', last, given)
      expect((await heldBy(user('002'), given)).includes('solo')).toBe(false)
      expect(
        (await pairs(undefined, given.settings)).filter((one) => one.endsWith(group('solo'))),
      ).toEqual([])
      await done('assign_entitlement', last, given)
    })

    test('refuses to add an unknown account to a group, and an account to what is not a group', async () => {
      for (const request of [
        grant(`uid=nobody,${people()}`, 'sales'),
        grant(user('001'), 'none'),
        { ...grant(user('001'), 'sales'), entitlement_integration_specific_id: user('002') },
      ])
        expect(await refused('assign_entitlement', request)).toMatchObject({
          error_code: 'not_found',
        })
    })

    test('adds and removes many members of one group at the same time', async () => {
      const names = ['031', '032', '033', '034', '035', '036', '037', '038', '039', '040']
      const grants = names.map((name) => grant(user(name), 'sales'))
      await Promise.all([...grants, ...grants].map((one) => done('assign_entitlement', one)))
      const held = await Promise.all(names.map((name) => heldBy(user(name))))
      expect(held.every((groups) => groups.includes('sales'))).toBe(true)
      await Promise.all([...grants, ...grants].map((one) => done('unassign_entitlement', one)))
      const left = await Promise.all(names.map((name) => heldBy(user(name))))
      expect(left.some((groups) => groups.includes('sales'))).toBe(false)
    })

    test('lists every other account exactly once while accounts are added and deleted between pages', async () => {
      const leaving = await someone('leaving')
      const found: string[] = []
      const changed: string[] = []
      let token: string | null = null
      do {
        const page = { size: 10, ...(token === null ? {} : { token }) }
        const answer = await host.call('ldap', 'list_accounts', { ...envelope(), page })
        const accounts = success<Account[]>(answer.body)
        found.push(...accounts.map((one) => one.integration_specific_id))
        token = answer.body.page?.token ?? null
        if (changed.length === 0) await gone(leaving)
        changed.push(await someone(`coming-${changed.length}`))
      } while (token !== null)
      for (const id of changed) await gone(id)
      const stayed = found.filter((id) => id !== leaving && !changed.includes(id))
      expect(stayed).toHaveLength(60)
      expect(new Set(stayed).size).toBe(60)
    })

    test('reports the last login of accounts', async () => {
      expect(await canLogIn(user('011'), 'pw-011')).toBe(true)
      const account_ids = [user('011'), user('012'), `uid=nobody,${people()}`]
      const found = await done<{ account_id: string; happened_at: string }[]>('get_last_activity', {
        account_ids,
      })
      expect(found).toEqual([
        {
          account_id: user('011'),
          event_type: 'last_login',
          happened_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/),
        },
      ])
      expect(Number.isNaN(Date.parse(found[0]?.happened_at ?? ''))).toBe(false)
    })

    const service = (name: string): [string, string] => [
      `cn=${name},ou=services,${directory.baseDn}`,
      `${name}-secret`,
    ]
    test.each<[string, () => Given, string, object, object]>([
      [
        'a wrong password',
        () => ({ as: [directory.auth.bindDn, 'not the password'] }),
        'list_accounts',
        {},
        { error_code: 'unauthenticated', app_error_code: 'invalidCredentials' },
      ],
      [
        'an unknown DN',
        () => ({ as: ['cn=nobody-at-all,dc=example,dc=test', 'x'] }),
        'validate_credentials',
        {},
        { error_code: 'unauthenticated', app_error_code: 'invalidCredentials' },
      ],
      [
        'a write by a read-only user',
        () => ({ as: service('reader') }),
        'deactivate_account',
        { account_id: 'uid=user003,ou=people,dc=example,dc=test' },
        { error_code: 'permission_denied', app_error_code: 'insufficientAccessRights' },
      ],
      [
        'a user who may not page',
        () => ({ as: service('nopage') }),
        'list_accounts',
        {},
        {
          error_code: 'permission_denied',
          app_error_code: 'adminLimitExceeded',
          message: expect.stringContaining('page_size'),
        },
      ],
      [
        'a larger page than the directory allows',
        () => ({ settings: { page_size: 500 } }),
        'list_accounts',
        {},
        {
          error_code: 'permission_denied',
          app_error_code: 'adminLimitExceeded',
          message: expect.stringContaining('page_size'),
        },
      ],
      [
        'a missing people_dn',
        () => ({ settings: { people_dn: 'ou=none,dc=example,dc=test' } }),
        'validate_credentials',
        {},
        {
          ...{ error_code: 'not_found', app_error_code: 'noSuchObject' },
          raised_by: 'ConnectorError',
          message: expect.stringMatching(/^people_dn: there is no entry ou=none,/),
        },
      ],
      [
        'an unreadable people_dn',
        () => ({ settings: { people_dn: 'ou=vault,dc=example,dc=test' } }),
        'validate_credentials',
        {},
        {
          ...{ error_code: 'not_found', app_error_code: 'noSuchObject' },
          raised_by: 'ConnectorError',
          message: expect.stringMatching(/^people_dn: there is no entry ou=vault,/),
        },
      ],
      [
        'a people_dn on another server',
        () => ({ settings: { people_dn: 'ou=branch,dc=example,dc=test' } }),
        'list_accounts',
        {},
        { error_code: 'unsupported_operation', app_error_code: 'referral' },
      ],
      [
        'a busy directory',
        () => ({ settings: { people_dn: 'cn=busy,ou=answers,dc=example,dc=test' } }),
        'list_accounts',
        {},
        { error_code: 'rate_limit', app_error_code: 'busy' },
      ],
      [
        'an unavailable directory',
        () => ({ settings: { people_dn: 'cn=unavailable,ou=answers,dc=example,dc=test' } }),
        'list_accounts',
        {},
        { error_code: 'service_error', app_error_code: 'unavailable' },
      ],
      [
        'a value that the schema rejects',
        () => ({}),
        'update_account',
        { id: 'uid=user003,ou=people,dc=example,dc=test', family_name: '' },
        { error_code: 'invalid_value', app_error_code: 'objectClassViolation' },
      ],
      [
        'an attribute that the schema does not have',
        () => ({ settings: { disabled_by: 'nsAccountLock' } }),
        'deactivate_account',
        { account_id: 'uid=user003,ou=people,dc=example,dc=test' },
        { error_code: 'invalid_value', app_error_code: 'undefinedAttributeType' },
      ],
    ])('reports %s with its error code', async (_what, given, capability, request, error) => {
      expect(await refused(capability, request, given())).toMatchObject({
        raised_by: 'LDAPError',
        ...error,
      })
    })

    test('reports permission_denied for a group that it may not change', async () => {
      expect(await refused('assign_entitlement', grant(user('003'), 'admins'))).toMatchObject({
        error_code: 'permission_denied',
        app_error_code: 'insufficientAccessRights',
      })
    })

    test('provisions an account and a group by policy; revokes the group on a move, and both after a rename', async () => {
      const core = await startCore({
        KEYWAY_PRIVATE_EGRESS: `ldap=${new URL(directory.url).host}`,
      })
      try {
        await core.host.settled
        const staff = acme(core)
        const { bindDn, password } = directory.auth
        const app = await company(core).connected({
          app_class_id: 'ldap',
          auth: { username: bindDn, password },
          settings: envelope().settings,
        })
        await core.call('POST', `/apps/${app}/sync`, { body: { sync_type: 'full_sync' } })
        await until(
          'the sync succeeds',
          async () => (await core.call('GET', `/apps/${app}`)).body.sync_status === 'SUCCESS',
        )
        const path = `/appstore/requestable_permissions?app_id=${app}&search_term=support&size=100`
        const { items } = (await core.call('GET', path)).body
        const name = 'ada.by.policy'
        const members = async () => {
          const { searchEntries } = await admin.search(group('support'), { scope: 'base' })
          return [searchEntries[0]?.['member'] ?? []].flat().map(String)
        }
        const before = await members()
        await staff.policy('Helpdesk', [
          { id: app, is_preapproved: true, permissions: [{ id: items[0].id }] },
        ])
        const ada = await staff.worker(name, 'Helpdesk')
        await staff.reach(ada.id, 'COMPLETED')
        const gained = (await members()).filter((dn) => !before.includes(dn))
        expect(gained).toEqual([expect.stringContaining(name)])

        await staff.moveTo(ada.id, 'Elsewhere')
        await staff.reach(ada.id, 'REVERTED')
        expect(await members()).toEqual(before)
        for (const dn of gained) await admin.del(dn)

        // This directory updates references: the group contains the new name.
        const bob = await staff.worker('bob.by.policy', 'Helpdesk')
        await staff.reach(bob.id, 'COMPLETED')
        const [old = ''] = (await members()).filter((dn) => !before.includes(dn))
        const renamed = old.replace('bob.by.policy', 'robert')
        await admin.modifyDN(old, renamed)
        expect(await members()).toContain(renamed)
        const leavers = leaving(core)
        await leavers.reaches(await leavers.offboard(bob.id), 'COMPLETED')
        await staff.reach(bob.id, 'REVERTED')
        expect(await members()).toEqual(before)
        const { searchEntries } = await admin.search(renamed, {
          scope: 'base',
          attributes: ['pwdAccountLockedTime'],
        })
        expect(searchEntries[0]?.['pwdAccountLockedTime']).toMatch(/Z$/)
        await admin.del(renamed)
      } finally {
        await core.stop()
      }
    }, 180_000)
  },
)
