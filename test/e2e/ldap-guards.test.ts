/** The LDAP connector, whole, where a write could be lost or do harm: names, locks, its own login, races. */
import { Client } from 'ldapts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Directory, noDirectory, startDirectory } from '../egress/ldap/directory.ts'
import { asking } from './asking.ts'
import { startHost, type TestHost } from './host.ts'

type Account = { integration_specific_id: string; username: string }
type Association = { account_id: string; integration_specific_entitlement_id: string }
type Given = { settings?: object; as?: [dn: string, password: string] }

const B = 'dc=example,dc=test'
const PEOPLE = `ou=people,${B}`
const GROUPS = `ou=groups,${B}`

describe.skipIf(noDirectory !== null)(
  `the LDAP connector${noDirectory ? ` (${noDirectory})` : ''}`,
  () => {
    let directory: Directory
    let host: TestHost
    let admin: Client

    beforeAll(async () => {
      directory = await startDirectory({ PAGE: '25' })
      host = await startHost({
        env: { KEYWAY_PRIVATE_EGRESS: `ldap=${new URL(directory.url).host}` },
      })
      admin = new Client({ url: directory.url })
      await admin.bind(`cn=admin,${B}`, 'admin-secret')
    }, 180_000)
    afterAll(async () => {
      await admin?.unbind()
      await host?.stop()
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
    const { done, all } = asking(() => host, 'ldap', envelope)

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
    const valuesIn = async (dn: string, attribute: string) => {
      const { searchEntries } = await admin.search(dn, { scope: 'base', attributes: [attribute] })
      return [searchEntries[0]?.[attribute] ?? []].flat().map(String)
    }
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

    test.each(['İbrahim', 'ΓΙΩΡΓΟΣ', 'STRAẞE', 'Ⅷ', 'Ნino', '\u212Aelvin', 'ǅ'])(
      'lists %s under an id that it is found, assigned, switched off and deleted by',
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

    test('lists a group whose name has such letters under an id that it is given by', async () => {
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
  },
)
