/**
 * Runs the LDAP connector against 389 Directory Server, where it differs from OpenLDAP: locks, memberOf,
 * empty groups, ids.
 */
import { Client } from 'ldapts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Directory, startDomain } from '../egress/ldap/directory.ts'
import { connectorClient } from './connector-client.ts'
import { startHost, type TestHost } from './host.ts'

type Account = { integration_specific_id: string; username: string; user_status: string }
type Association = { account_id: string; integration_specific_entitlement_id: string }

const started = await startDomain('389-ds')
const why = 'why' in started ? started.why : null

describe.skipIf(why !== null)(
  `the LDAP connector at 389 Directory Server${why ? ` (${why})` : ''}`,
  () => {
    let directory: Directory
    let host: TestHost

    beforeAll(async () => {
      if ('why' in started) return
      directory = started.domain
      const hosts = [directory.url, directory.ldapsUrl].map((url) => `ldap=${new URL(url).host}`)
      host = await startHost({ env: { KEYWAY_PRIVATE_EGRESS: hosts.join(' ') } })
    }, 180_000)
    afterAll(async () => {
      await host?.stop()
      if ('domain' in started) await started.domain.stop()
    })

    const people = () => `ou=people,${directory.baseDn}`
    const group = (name: string) => `cn=${name},ou=groups,${directory.baseDn}`
    const user = (number: string) => `uid=user${number},${people()}`
    type Given = { settings?: object; as?: [dn: string, password: string] }
    const envelope = (request: object = {}, { settings, as }: Given = {}) => {
      const [username, password] = as ?? [directory.auth.bindDn, directory.auth.password]
      return {
        auth: { basic: { username, password } },
        settings: {
          url: directory.ldapsUrl,
          people_dn: people(),
          groups_dn: `ou=groups,${directory.baseDn}`,
          disabled_by: 'nsAccountLock',
          ...settings,
        },
        request,
      }
    }
    const { done, refused, all } = connectorClient(() => host, 'ldap', envelope)
    const grant = (account: string, name: string) => ({
      account_integration_specific_id: account,
      resource_integration_specific_id: '',
      resource_type: '',
      entitlement_type: 'GROUP',
      entitlement_integration_specific_id: group(name),
    })
    const pairs = async (size?: number, settings: object = {}) =>
      (await all<Association>('find_entitlement_associations', size, { settings }))
        .map((one) => `${one.account_id} ${one.integration_specific_entitlement_id}`)
        .sort()
    /** Checks at the server itself why an account cannot log in with a password; null if it can. */
    const keptOut = async (dn: string, password: string): Promise<string | null> => {
      const client = new Client({ url: directory.ldapsUrl })
      try {
        await client.bind(dn, password)
        return null
      } catch (error) {
        return Object(error).constructor.name
      } finally {
        await client.unbind()
      }
    }

    test.each(['url', 'ldapsUrl'] as const)(
      'identifies its tenant by a stable id (%s)',
      async (way) => {
        const found = await done<{ unique_tenant_id: string }>(
          'validate_credentials',
          {},
          {
            settings: { url: directory[way] },
          },
        )
        expect(found.unique_tenant_id).toMatch(/^[0-9a-f-]{35,36}$/)
        expect(await done('validate_credentials')).toEqual(found)
      },
    )

    test.each([7, undefined])('lists every account exactly once in pages of %s', async (size) => {
      const found = await all<Account>('list_accounts', size)
      expect(found).toHaveLength(31)
      expect(new Set(found.map((one) => one.integration_specific_id)).size).toBe(31)
      const off = found.filter((one) => one.user_status === 'SUSPENDED').map((one) => one.username)
      expect(off.sort()).toEqual(['user10', 'user20'])
      for (const { integration_specific_id: account_id, username } of found)
        expect(await done('get_account', { account_id })).toMatchObject({ username })
    })

    test('deactivates an account so that it cannot log in, and activates it again', async () => {
      const password = 'first-secret'
      const request = { username: 'ada', entitlements: [], password }
      const { id } = await done<{ id: string }>('create_account', request)
      expect(await keptOut(id, password)).toBeNull()
      expect(await refused('create_account', request)).toMatchObject({
        app_error_code: 'entryAlreadyExists',
      })
      const [activity] = await done<{ account_id: string }[]>('get_last_activity', {
        account_ids: [id],
      })
      expect(activity).toBeUndefined()
      for (const _twice of [1, 2]) await done('deactivate_account', { account_id: id })
      expect(await keptOut(id, password)).toBe('UnwillingToPerformError')
      expect(await done('get_account', { account_id: id })).toMatchObject({
        user_status: 'SUSPENDED',
      })
      for (const _twice of [1, 2]) await done('activate_account', { account_id: id })
      await done('update_account', { id, password: 'second-secret', given_name: 'Ada' })
      expect(await keptOut(id, password)).toBe('InvalidCredentialsError')
      expect(await keptOut(id, 'second-secret')).toBeNull()
      await done('delete_account', { account_id: id })
      expect(await refused('get_account', { account_id: id })).toMatchObject({
        error_code: 'not_found',
      })
    })

    test('adds accounts to groups and removes them, including the last member', async () => {
      const held = async () => (await pairs()).filter((one) => one.endsWith(group('none')))
      for (const _twice of [1, 2]) await done('assign_entitlement', grant(user('01'), 'none'))
      expect(await held()).toEqual([`${user('01')} ${group('none')}`])
      for (const _twice of [1, 2]) await done('unassign_entitlement', grant(user('01'), 'none'))
      expect(await held()).toEqual([])
    })

    test('reads from people also the memberships of nested groups', async () => {
      const direct = await pairs(7)
      expect(direct).toHaveLength(15 + 10)
      const effective = await pairs(7, { associations: 'effective' })
      expect(effective.filter((one) => one.endsWith(group('staff')))).toHaveLength(20)
      expect(await pairs(7, { memberships: 'people' })).toEqual(effective)
    })

    test('reports a wrong password and a locked account', async () => {
      const as = (dn: string, password: string): Given => ({ as: [dn, password] })
      expect(
        await refused('validate_credentials', {}, as(directory.auth.bindDn, 'wrong')),
      ).toMatchObject({ error_code: 'unauthenticated', app_error_code: 'invalidCredentials' })
      expect(await refused('validate_credentials', {}, as(user('10'), 'pw-10'))).toMatchObject({
        error_code: 'unauthenticated',
        app_error_code: 'unwillingToPerform',
      })
      expect(
        await refused('assign_entitlement', grant(user('01'), 'none'), as(user('01'), 'pw-01')),
      ).toMatchObject({ error_code: expect.stringMatching(/permission_denied|not_found/) })
    })
  },
)
