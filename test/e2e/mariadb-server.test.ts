/**
 * Tests accounts that a MariaDB server itself needs, and what the connector's user may grant through roles,
 * against a real server.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noMariadb } from '../egress/sql/mariadb.ts'
import { type MariadbHost, right, role, startMariadbHost } from './mariadb.ts'

type Entitlement = {
  integration_specific_id: string
  integration_specific_resource_id: string
  is_assignable: boolean
}

describe.skipIf(noMariadb !== null)(
  `the MariaDB connector at a server${noMariadb ? ` (${noMariadb})` : ''}`,
  () => {
    let its: MariadbHost
    beforeAll(async () => {
      its = await startMariadbHost()
    }, 180_000)
    afterAll(() => its?.stop())

    test('does not change an account that the server itself needs', async () => {
      const account_id = 'mariadb.sys@localhost'
      for (const [capability, request] of [
        ['activate_account', { account_id }],
        ['update_account', { id: account_id, password: 'password-1' }],
        ['delete_account', { account_id }],
      ] as const)
        expect(await its.refused(capability, request)).toMatchObject({
          ...{ error_code: 'unsupported_operation', app_error_code: 'server_account' },
        })
      // A view of the server that runs with the privileges of that account.
      expect(await its.rows('select count(*) n from mysql.user')).toHaveLength(1)
      expect(await its.done('get_account', { account_id })).toMatchObject({
        user_status: 'SUSPENDED',
      })
    })

    test('does not list PUBLIC as a role', async () => {
      await its.admin.query('grant select on ops.* to public')
      const names = (await its.all<Entitlement>('list_entitlements', 100)).map(
        (one) => one.integration_specific_id,
      )
      expect(names).not.toContain('PUBLIC')
      expect(await its.refused('assign_entitlement', role('user001@%', 'PUBLIC'))).toMatchObject({
        error_code: 'not_found',
        app_error_code: '1959',
      })
      await its.admin.query('revoke select on ops.* from public')
    })

    test('lists as assignable what its user may grant through a role', async () => {
      await its.admin.query(`
        create role rights; create role more_rights; grant rights to more_rights;
        grant select on mysql.* to rights; grant create user, show databases on *.* to rights;
        grant role_writer to rights with admin option; grant select on ops.* to rights with grant option;
        create user by_role@'%' identified by 'by-role-1'; grant select on mysql.* to by_role@'%';
        grant more_rights to by_role@'%'; set default role more_rights for by_role@'%'`)
      const as = { as: ['by_role', 'by-role-1'] as [string, string] }
      const found = await its.all<Entitlement>('list_entitlements', 100, as)
      const assignable = found
        .filter((one) => one.is_assignable)
        .map((one) => `${one.integration_specific_id} ${one.integration_specific_resource_id}`)
      expect(assignable).toEqual(['role_writer ', 'SELECT ops'])
      await its.done('assign_entitlement', role('user003@%', 'role_writer'), as)
      await its.done('assign_entitlement', right('user003@%', 'SELECT', 'ops'), as)
      expect(
        await its.refused('assign_entitlement', role('user003@%', 'role_reader'), as),
      ).toMatchObject({ error_code: 'permission_denied' })
    })

    test('does not create an account that it could not delete', async () => {
      const request = { username: 'mysql.sys', host: 'LocalHost', password: 'password-1' }
      expect(await its.refused('create_account', { ...request, entitlements: [] })).toMatchObject({
        error_code: 'unsupported_operation',
        app_error_code: 'server_account',
      })
    })

    test('finds a database only by its exact name', async () => {
      expect(
        await its.refused('assign_entitlement', right('user002@%', 'SELECT', 'sales ')),
      ).toMatchObject({ error_code: 'not_found', app_error_code: '1049' })
    })
  },
)
