/** Tests the MariaDB connector with names that differ only by case or accents, against a real server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noMariadb } from '../egress/sql/mariadb.ts'
import {
  type Association,
  EFFECTIVE,
  type Given,
  type MariadbHost,
  right,
  short,
  startMariadbHost,
} from './mariadb.ts'

const ALIKE = ['CaseDb', 'casedb', 'muller', 'müller']

describe.skipIf(noMariadb !== null)(
  `MariaDB names that differ only by case or accent${noMariadb ? ` (${noMariadb})` : ''}`,
  () => {
    let its: MariadbHost

    beforeAll(async () => {
      its = await startMariadbHost()
      for (const name of ALIKE)
        await its.admin.query(
          `create database \`${name}\`; grant select, insert on \`${name}\`.* to connector@'%' with grant option`,
        )
      await its.admin.query("create user cu@'%' identified by 'password-1'")
    }, 180_000)
    afterAll(() => its?.stop())

    test.each([1, 2, 3, undefined])(
      'list each database exactly once in pages of %s',
      async (size) => {
        const found = await its.all<{ integration_specific_id: string }>('list_resources', size)
        const names = found.map((one) => one.integration_specific_id)
        expect(names.sort()).toEqual([...ALIKE, 'finance', 'ops', 'sales', 'sales_eu'].sort())
        const rights = await its.all<Association>('list_entitlements', size)
        expect(new Set(rights.map((one) => JSON.stringify(one))).size).toBe(4 + 8 * 9)
      },
    )

    test('keep their privileges apart', async () => {
      await its.done('assign_entitlement', right('cu@%', 'SELECT', 'casedb'))
      await its.done('assign_entitlement', right('cu@%', 'SELECT', 'müller'))
      const of = (list: Association[]) => list.filter((one) => one.account_id === 'cu@%').map(short)
      const own = ['SELECT casedb', 'SELECT müller']
      for (const given of [{}, EFFECTIVE] satisfies Given[]) {
        expect(await its.heldBy('cu@%', given)).toEqual(own)
        for (const size of [1, 2, 5, undefined])
          expect(
            of(await its.all<Association>('find_entitlement_associations', size, given)),
          ).toEqual(own)
      }
      expect(
        await its.refused('assign_entitlement', right('cu@%', 'SELECT', 'CASEDB')),
      ).toMatchObject({ error_code: 'not_found', app_error_code: '1049' })
      await its.done('unassign_entitlement', right('cu@%', 'SELECT', 'CaseDb'))
      expect(await its.heldBy('cu@%')).toEqual(own)
      await its.done('unassign_entitlement', right('cu@%', 'SELECT', 'müller'))
      expect(await its.heldBy('cu@%')).toEqual(['SELECT casedb'])
    })

    test('are assignable only where the connector may grant the privilege', async () => {
      await its.admin.query("revoke insert on `CaseDb`.* from connector@'%'")
      const rights = await its.all<{
        integration_specific_id: string
        integration_specific_resource_id: string
        is_assignable: boolean
      }>('list_entitlements')
      const assignable = rights
        .filter((one) => one.is_assignable && one.integration_specific_id === 'INSERT')
        .map((one) => one.integration_specific_resource_id)
      expect(assignable.sort()).toEqual(['casedb', 'muller', 'müller', 'sales'])
    })

    test.each(['key@way', "o'connor", "a'@'b", '@', 'say "x" \\ y'])(
      'do not affect what the connector reports as assignable for its user %j',
      async (user) => {
        const who = `'${user.replaceAll("'", "''").replaceAll('\\', '\\\\')}'@'%'`
        await its.admin.query(`create user ${who} identified by 'password-1';
          grant select on mysql.* to ${who}; grant show databases on *.* to ${who}; grant role_reader to ${who} with admin option;
          grant update on ops.* to ${who} with grant option; grant select on sales.* to ${who}`)
        const given: Given = { as: [user, 'password-1'] }
        const of = async () =>
          (
            await its.all<
              Association & { integration_specific_id: string; is_assignable: boolean }
            >('list_entitlements', undefined, given)
          )
            .filter((one) => one.is_assignable)
            .map((one) =>
              `${one.integration_specific_id} ${one.integration_specific_resource_id}`.trim(),
            )
        expect((await of()).sort()).toEqual(['UPDATE ops', 'role_reader'])
        await its.admin.query(`grant delete on *.* to ${who} with grant option`)
        expect((await of()).filter((one) => one.startsWith('DELETE'))).toHaveLength(8)
        await its.admin.query(`drop user ${who}`)
      },
    )

    test('list all privileges of an account in pages of any size', async () => {
      await its.admin.query("grant insert on `CaseDb`.* to connector@'%' with grant option")
      for (const name of ['r_a', 'R_A', 'r_ä'])
        await its.admin.query(`create role \`${name}\`; grant \`${name}\` to cu@'%'`)
      for (const name of ALIKE) await its.done('assign_entitlement', right('cu@%', 'INSERT', name))
      await its.done('assign_entitlement', right('cu@%', 'SELECT', 'CaseDb'))
      const own = await its.heldBy('cu@%')
      expect(own).toHaveLength(9)
      for (const size of [1, 2, 3, 4, 5, 7]) {
        const found = await its.all<Association>('find_entitlement_associations', size)
        expect(
          found
            .filter((one) => one.account_id === 'cu@%')
            .map(short)
            .sort(),
        ).toEqual(own)
        expect(await its.heldBy('cu@%', {}, size)).toEqual(own)
      }
    })
  },
)
