/**
 * Tests the LDAP connector end to end where a write could be lost or do harm: names, locks, its own login,
 * races.
 */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { Attribute, Change, Client } from 'ldapts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Directory, noDirectory, startDirectory } from '../egress/ldap/directory.ts'
import { connectorClient } from './connector-client.ts'
import { startHost, type TestHost } from './host.ts'

type Account = { integration_specific_id: string; username: string; user_status: string }
type Association = { account_id: string; integration_specific_entitlement_id: string }
type Given = { settings?: object; as?: [dn: string, password: string] }

const B = 'dc=example,dc=test'
const PEOPLE = `ou=people,${B}`
const GROUPS = `ou=groups,${B}`
/** The OID of `uid`. */
const UID = '0.9.2342.19200300.100.1.1'

/** Delay of a request through the slow proxy. */
const LATE_MS = 100

/** A TCP proxy to a local port that delays everything sent to it. */
async function delayingProxy(ms: number, to: number) {
  const sockets = new Set<Socket>()
  const server = createServer((from) => {
    const there = connect(to, '127.0.0.1')
    for (const socket of [from, there]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
    }
    from.on('data', (data) => void setTimeout(ms).then(() => there.write(data)))
    from.on('close', () => there.destroy())
    there.pipe(from)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: Object(server.address()).port as number,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}

describe.skipIf(noDirectory !== null)(
  `the LDAP connector${noDirectory ? ` (${noDirectory})` : ''}`,
  () => {
    let directory: Directory
    let host: TestHost
    let admin: Client

    let slow: Awaited<ReturnType<typeof delayingProxy>>

    beforeAll(async () => {
      directory = await startDirectory({ PAGE: '25' })
      slow = await delayingProxy(LATE_MS, Number(new URL(directory.url).port))
      const grants = [new URL(directory.url).host, `127.0.0.1:${slow.port}`]
      host = await startHost({
        env: { KEYWAY_PRIVATE_EGRESS: grants.map((at) => `ldap=${at}`).join(' ') },
      })
      admin = new Client({ url: directory.url })
      await admin.bind(`cn=admin,${B}`, 'admin-secret')
    }, 180_000)
    afterAll(async () => {
      await admin?.unbind()
      await host?.stop()
      await slow?.stop()
      await directory?.stop()
    })

    const envelope = (request: object = {}, { settings, as }: Given = {}) => {
      const [username, password] = as ?? [directory.auth.bindDn, directory.auth.password]
      return {
        auth: { basic: { username, password } },
        settings: {
          ...{ url: directory.url, people_dn: PEOPLE, groups_dn: GROUPS, page_size: 25 },
          ...settings,
        },
        request,
      }
    }
    const { call: asked, done, refused, all } = connectorClient(() => host, 'ldap', envelope)

    const group = (name: string) => `cn=${name},${GROUPS}`
    const grant = (account: string, name: string) => ({
      account_integration_specific_id: account,
      resource_integration_specific_id: '',
      resource_type: '',
      entitlement_type: 'GROUP',
      entitlement_integration_specific_id: group(name),
    })
    const add = (dn: string, attributes: Record<string, string | string[]>) =>
      admin.add(dn, { objectClass: 'inetOrgPerson', cn: 'x', sn: 'x', ...attributes })
    const write = (dn: string, type: string, ...values: string[]) =>
      admin.modify(
        dn,
        new Change({ operation: 'replace', modification: new Attribute({ type, values }) }),
      )
    const valuesIn = async (dn: string, attribute: string) => {
      const { searchEntries } = await admin.search(dn, { scope: 'base', attributes: [attribute] })
      return [searchEntries[0]?.[attribute] ?? []].flat().map(String)
    }
    const statusOf = async (account_id: string, given?: Given) =>
      (await done<Account>('get_account', { account_id }, given)).user_status
    const heldBy = async (account_id: string) =>
      (await done<Association[]>('get_account_entitlement_associations', { account_id })).map(
        (one) => one.integration_specific_entitlement_id,
      )
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

    test.each([
      'İbrahim',
      'ΓΙΩΡΓΟΣ',
      'Özlem',
      'Київ',
      'ŠTĚPÁN',
      'ẠNH',
      'STRAẞE',
      'Ⅷ',
      'Ნino',
      '\u212Aelvin',
      'ǅ',
    ])(
      'lists %s under an id by which it can be found, assigned, deactivated and deleted',
      async (uid) => {
        await add(`uid=${uid},${PEOPLE}`, { uid, userPassword: 'first-secret' })
        const listed = (await all<Account>('list_accounts')).find((one) => one.username === uid)
        const account_id = listed?.integration_specific_id ?? 'not listed'
        expect(await done('get_account', { account_id })).toEqual(listed)
        await done('assign_entitlement', grant(account_id, 'sales'))
        expect(await heldBy(account_id)).toEqual([group('sales')])
        const associations = await all<Association>('find_entitlement_associations')
        expect(associations.filter((one) => one.account_id === account_id)).toHaveLength(1)
        await done('unassign_entitlement', grant(account_id, 'sales'))
        expect(await heldBy(account_id)).toEqual([])
        await done('deactivate_account', { account_id })
        expect(await canLogIn(`uid=${uid},${PEOPLE}`, 'first-secret')).toBe(false)
        await done('activate_account', { account_id })
        await done('delete_account', { account_id })
        expect(await canLogIn(`uid=${uid},${PEOPLE}`, 'first-secret')).toBe(false)
      },
    )

    test('lists a member whose name has several spaces under the id of the account', async () => {
      const uid = 'two  spaces'
      await add(`uid=${uid},${PEOPLE}`, { uid })
      const member = `uid=Two Spaces,${PEOPLE}`
      await admin.add(group('spaced  out'), { objectClass: 'groupOfNames', member })
      const listed = (await all<Account>('list_accounts')).find((one) => one.username === uid)
      const account_id = listed?.integration_specific_id ?? 'not listed'
      const wanted = {
        account_id,
        integration_specific_entitlement_id: group('spaced out'),
        integration_specific_resource_id: '',
      }
      const associations = await all<Association>('find_entitlement_associations')
      expect(associations.filter((one) => /spaced/.test(JSON.stringify(one)))).toEqual([wanted])
      expect(await heldBy(account_id)).toEqual([group('spaced out')])
      await admin.del(group('spaced out'))
      await done('delete_account', { account_id })
    })

    test('refuses to remove a membership that the directory itself creates by a search', async () => {
      const dn = `uid=user007,${PEOPLE}`
      await admin.add(group('searched'), {
        objectClass: ['groupOfNames', 'labeledURIObject'],
        member: [`uid=user001,${PEOPLE}`, dn],
        labeledURI: `ldap:///${PEOPLE}??sub?(employeeNumber=7)`,
      })
      expect(await heldBy(dn)).toContain(group('searched'))
      for (const _twice of [1, 2])
        expect(await refused('unassign_entitlement', grant(dn, 'searched'))).toMatchObject({
          error_code: 'unsupported_operation',
          app_error_code: 'held_in_another_way',
          message: expect.stringContaining('by a search'),
        })
      await write(group('searched'), 'labeledURI')
      expect(await heldBy(dn)).not.toContain(group('searched'))
      await done('unassign_entitlement', grant(dn, 'searched'))
      await admin.del(group('searched'))
    })

    test('keeps the other values of an attribute on update, and removes all when it is cleared', async () => {
      const dn = `uid=several,${PEOPLE}`
      const at = (name: string) => `${name}@several.test`
      await add(dn, { uid: 'several', mail: [at('old'), at('alias'), at('Other')] })
      const email = async () =>
        (await done<{ email: unknown }>('get_account', { account_id: dn })).email
      await done('update_account', { id: dn, email: at('new'), title: 'Lead' })
      expect(await valuesIn(dn, 'mail')).toEqual([at('new'), at('alias'), at('Other')])
      expect(await email()).toBe(at('new'))
      await done('update_account', { id: dn, email: at('other') })
      expect(await valuesIn(dn, 'mail')).toEqual([at('other'), at('alias')])
      expect(await email()).toBe(at('other'))
      await done('update_account', { id: dn, email: '' })
      expect(await email()).toBeNull()
      await done('delete_account', { account_id: dn })
    })

    test('refuses a password with half of a surrogate pair', async () => {
      const request = { username: 'half', password: 'first-secret', entitlements: [] }
      const { id } = await done<{ id: string }>('create_account', request)
      const half = { id, password: 'next-secret\ud83d' }
      expect(await refused('update_account', half)).toMatchObject({ error_code: 'bad_request' })
      expect(await canLogIn(id, 'first-secret')).toBe(true)
      expect(await canLogIn(id, 'next-secret\ufffd')).toBe(false)
      await done('delete_account', { account_id: id })
    })

    test('lists a group whose name has non-ASCII letters under an id by which it can be assigned', async () => {
      await admin.add(group('İK'), { objectClass: 'groupOfNames', member: `uid=user001,${PEOPLE}` })
      const groups = await all<{ label: string; integration_specific_id: string }>(
        'list_entitlements',
      )
      const id = groups.find(({ label }) => label === 'İK')?.integration_specific_id ?? ''
      const given = {
        ...grant(`uid=user003,${PEOPLE}`, ''),
        entitlement_integration_specific_id: id,
      }
      await done('assign_entitlement', given)
      expect(await valuesIn(group('İK'), 'member')).toHaveLength(2)
      await admin.del(group('İK'))
    })

    describe('deactivating an account', () => {
      const policy = `cn=policy,ou=services,${B}`
      const own = `cn=strict,${PEOPLE}`
      const uid = `uid=locked,${PEOPLE}`
      const ofPolicy = { settings: { policy_dn: policy } }
      const asPolicy = {
        objectClass: ['applicationProcess', 'pwdPolicy'],
        pwdAttribute: 'userPassword',
      }
      const isRefused = async (given?: Given) =>
        expect(await refused('deactivate_account', { account_id: uid }, given)).toMatchObject({
          error_code: 'unsupported_operation',
          app_error_code: 'lock_not_heeded',
          message: expect.stringMatching(/could still log in.*Set pwdLockout to TRUE/),
        })

      beforeAll(() => add(uid, { uid: 'locked', userPassword: 'first-secret' }))
      afterAll(() => admin.del(uid))

      test.each([
        ['FALSE', ['FALSE']],
        ['absent', []],
      ])('is refused with pwdLockout %s', async (_what, values) => {
        await write(policy, 'pwdLockout', ...values)
        try {
          await isRefused(ofPolicy)
          await isRefused({ settings: { policy_dn: `ou=services,${B}` } })
          expect(await valuesIn(uid, 'pwdAccountLockedTime')).toEqual([])
          const made = { username: 'half', user_status: 'SUSPENDED', entitlements: [] }
          expect(await refused('create_account', made, ofPolicy)).toMatchObject({
            app_error_code: 'lock_not_heeded',
          })
          expect(await refused('get_account', { account_id: `uid=half,${PEOPLE}` })).toMatchObject({
            error_code: 'not_found',
          })
          // An account that others locked can log in, and is reported as active.
          await write(uid, 'pwdAccountLockedTime', '000001010000Z')
          expect(await canLogIn(uid, 'first-secret')).toBe(true)
          expect(await statusOf(uid, ofPolicy)).toBe('ACTIVE')
          const found = await all<Account>('list_accounts', undefined, ofPolicy)
          expect(found.filter((one) => one.user_status === 'SUSPENDED')).toEqual([])
        } finally {
          await write(uid, 'pwdAccountLockedTime')
          await write(policy, 'pwdLockout', 'TRUE')
        }
      })

      test('works with pwdLockout TRUE', async () => {
        await done('deactivate_account', { account_id: uid }, ofPolicy)
        expect(await canLogIn(uid, 'first-secret')).toBe(false)
        expect(await statusOf(uid, ofPolicy)).toBe('SUSPENDED')
        await done('activate_account', { account_id: uid }, ofPolicy)
        expect(await canLogIn(uid, 'first-secret')).toBe(true)
      })

      test("follows the account's own policy", async () => {
        await admin.add(own, { ...asPolicy, pwdLockout: 'FALSE' })
        await write(uid, 'pwdPolicySubentry', own)
        try {
          // The default policy enforces locks, this one does not.
          for (const given of [ofPolicy, {}]) await isRefused(given)
          await write(own, 'pwdLockout', 'TRUE')
          await done('deactivate_account', { account_id: uid })
          expect(await canLogIn(uid, 'first-secret')).toBe(false)
          expect(await statusOf(uid)).toBe('SUSPENDED')
          await write(own, 'pwdLockout', 'FALSE')
          expect(await canLogIn(uid, 'first-secret')).toBe(true)
          expect(await statusOf(uid)).toBe('ACTIVE')
        } finally {
          await write(uid, 'pwdAccountLockedTime')
          await write(uid, 'pwdPolicySubentry')
          await admin.del(own)
        }
      })

      test('requires a readable policy_dn, which is checked with the credentials', async () => {
        const settings = { policy_dn: `cn=none,ou=services,${B}` }
        expect(await refused('validate_credentials', {}, { settings })).toMatchObject({
          error_code: 'not_found',
          message: expect.stringMatching(/^policy_dn: there is no entry cn=none,/),
        })
        await done('validate_credentials', {}, ofPolicy)
      })
    })

    test.each([
      ['as stored', (dn: string) => dn],
      ['in capitals, with spaces', (dn: string) => dn.toUpperCase().replaceAll(',', ' , ')],
      ['with hex', (dn: string) => dn.replace('Ü', '\\C3\\9C')],
      ['with its non-ASCII letters in the other case', (dn: string) => dn.toLowerCase()],
      ['with the OID of its attribute', (dn: string) => dn.replace('uid', UID)],
    ])(
      'neither deactivates, deletes nor gives a new password to the account that it signs in as, written %s',
      async (_what, written) => {
        const dn = `uid=Übersync,${PEOPLE}`
        await add(dn, { uid: 'Übersync', userPassword: 'first-secret' })
        try {
          const as: [string, string] = [written(dn), 'first-secret']
          for (const [capability, request] of [
            ['deactivate_account', { account_id: dn }],
            ['delete_account', { account_id: dn }],
            ['update_account', { id: dn, password: 'second-secret' }],
          ] as const)
            expect(await refused(capability, request, { as })).toMatchObject({
              error_code: 'unsupported_operation',
              app_error_code: 'own_account',
              message: expect.stringContaining('signs in as'),
            })
          expect(await canLogIn(dn, 'first-secret')).toBe(true)
        } finally {
          await admin.del(dn)
        }
      },
    )

    describe('with people and groups in one place', () => {
      const place = `ou=both,ou=people,${B}`
      const settings = { people_dn: place, groups_dn: place }
      const SIZE = 7000

      beforeAll(async () => {
        await admin.add(place, { objectClass: 'organizationalUnit' })
        const people = Array.from({ length: SIZE }, (_, n) => `uid=both${n},${place}`)
        await admin.add(`cn=inner,${place}`, {
          objectClass: 'groupOfNames',
          member: people[0] ?? '',
        })
        const member = [...people, `cn=inner,${place}`, `cn=none,${place}`]
        await admin.add(`cn=large,${place}`, { objectClass: 'groupOfNames', member })
      })
      afterAll(async () => {
        for (const name of ['cn=large,', 'cn=inner,', '']) await admin.del(`${name}${place}`)
      })

      test.each(['direct', 'effective'])(
        'lists %s memberships of a large group',
        async (kind) => {
          const from = host.lines.length
          const given = { settings: { ...settings, associations: kind } }
          const found = await all<Association>('find_entitlement_associations', 1000, given)
          const ofLarge = found.filter(
            (one) => one.integration_specific_entitlement_id === `cn=large,${place}`,
          )
          expect(ofLarge.filter((one) => one.account_id === `cn=inner,${place}`)).toEqual([])
          expect(new Set(ofLarge.map((one) => one.account_id)).size).toBe(ofLarge.length)
          // A missing entry may be a person who is hidden.
          expect(ofLarge).toHaveLength(SIZE + 1)
          const searches = host.lines.slice(from).filter((line) => line.includes('"SEARCH"'))
          expect(searches.length).toBeLessThan(20)
        },
        60_000,
      )
    })

    describe('for a person with several user names', () => {
      const dn = `uid=many,${PEOPLE}`
      const unix = () => valuesIn(group('aliases'), 'memberUid')

      beforeAll(async () => {
        await add(dn, { uid: ['many', 'many.alias', 'many.other'] })
        await admin.add(group('aliases'), {
          objectClass: 'posixGroup',
          gidNumber: '4242',
          memberUid: ['many.alias', 'many.other', 'user003', 'USER004'],
        })
      })
      afterAll(() => admin.del(group('aliases')))

      test('memberships are found, revoked and deleted by each of them', async () => {
        const id = group('aliases')
        const listed = (await all<Association>('find_entitlement_associations'))
          .filter((one) => one.integration_specific_entitlement_id === id)
          .map((one) => one.account_id)
        // Names in such groups are case-sensitive (RFC 2307), also when the groups of an account are read.
        expect(listed.sort()).toEqual([dn, `uid=user003,${PEOPLE}`])
        expect(await heldBy(dn)).toEqual([id])
        expect(await heldBy(`uid=user004,${PEOPLE}`)).not.toContain(id)
        await done('unassign_entitlement', grant(dn, 'aliases'))
        expect(await unix()).toEqual(['user003', 'USER004'])
        await write(id, 'memberUid', 'many.other', 'user003')
        await done('delete_account', { account_id: dn })
        expect(await unix()).toEqual(['user003'])
      })
    })

    test('leaves no member in a group whose account is deleted while it is being added', async () => {
      const given = { settings: { url: `ldap://127.0.0.1:${slow.port}` } }
      // The connection is reused: from now on an assignment takes three requests, each delayed.
      await done('list_entitlements', {}, given)
      const outcomes: (boolean | undefined)[] = []
      for (const afterMs of [0, 1, 1.5, 2, 2.5].map((requests) => requests * LATE_MS)) {
        const request = { username: 'racing', entitlements: [] }
        const { id } = await done<{ id: string }>('create_account', request)
        const assigned = asked('assign_entitlement', grant(id, 'unique'), given)
        await setTimeout(afterMs)
        await done('delete_account', { account_id: id })
        outcomes.push((await assigned).body.error === undefined)
        expect(await valuesIn(group('unique'), 'uniqueMember')).not.toContain(id)
      }
      // No assignment that was undone is reported as done.
      expect(outcomes.slice(0, 3)).toEqual([false, false, false])
    })

    test('changes nothing if the password is refused, and reports what is done after other refusals', async () => {
      const request = { username: 'halfway', email: 'old@example.test', password: 'first-secret' }
      const { id } = await done<{ id: string }>('create_account', { ...request, entitlements: [] })
      const change = { id, email: 'new@example.test', password: 'abc' }
      expect(await refused('update_account', change)).toMatchObject({
        app_error_code: 'constraintViolation',
        message: expect.not.stringContaining('the new password'),
      })
      expect(await valuesIn(id, 'mail')).toEqual(['old@example.test'])
      expect(await canLogIn(id, 'first-secret')).toBe(true)
      const taken = { id, email: 'user001@example.test', password: 'next-secret' }
      expect(await refused('update_account', taken)).toMatchObject({
        error_code: 'invalid_value',
        app_error_code: 'constraintViolation',
        message: expect.stringMatching(/left behind: the new password \(it is set/),
      })
      expect(await canLogIn(id, 'next-secret')).toBe(true)
      await done('delete_account', { account_id: id })
    })
  },
)
