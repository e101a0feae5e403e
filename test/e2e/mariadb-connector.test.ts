/**
 * Runs the MariaDB connector end to end: through the host, its login, its sandbox and its proxy, against a
 * real server.
 */
import type mysql from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noMariadb } from '../egress/sql/mariadb.ts'
import { success } from './host.ts'
import {
  type Account,
  type Association,
  EFFECTIVE as effective,
  entitled,
  type Given,
  type MariadbHost,
  right,
  role,
  short,
  startMariadbHost,
} from './mariadb.ts'

type Entitlement = {
  integration_specific_id: string
  integration_specific_resource_id: string
  is_assignable: boolean
}
/** Names with the special characters of statements, lists and URLs. */
const ODD = [
  'Roe, Jane',
  'say "ho"',
  'back\\slash',
  ' x',
  'Jörg',
  '{x}',
  "$1 ?'; drop",
  'a@b@c',
  '`',
]

describe.skipIf(noMariadb !== null)(
  `the MariaDB connector${noMariadb ? ` (${noMariadb})` : ''}`,
  () => {
    let its: MariadbHost
    let admin: mysql.Connection

    beforeAll(async () => {
      its = await startMariadbHost()
      admin = its.admin
    }, 180_000)
    afterAll(() => its?.stop())

    const call: MariadbHost['call'] = (...asked) => its.call(...asked)
    const done: MariadbHost['done'] = (...asked) => its.done(...asked)
    const together: MariadbHost['together'] = (...asked) => its.together(...asked)
    const refused: MariadbHost['refused'] = (...asked) => its.refused(...asked)
    const pagesOf: MariadbHost['all'] = (...asked) => its.all(...asked)
    const heldBy: MariadbHost['heldBy'] = (...asked) => its.heldBy(...asked)
    /** Checks at the server itself why an account cannot read a table; null if it can. */
    const keptOut = async (user: string, password: string, table = 'ops.tickets') => {
      let client: mysql.Connection | undefined
      try {
        client = await its.clientOf(user, password)
        await client.query(`select note from ${table}`)
        return null
      } catch (error) {
        return Number(Object(error).errno)
      } finally {
        await client?.end()
      }
    }

    test('identifies its tenant by the server’s own id', async () => {
      const [rows] = await admin.query<mysql.RowDataPacket[]>('select @@server_uid id')
      expect(await done('validate_credentials')).toEqual({
        valid: true,
        unique_tenant_id: rows[0]?.['id'],
      })
    })

    test.each([7, undefined])('lists every account exactly once in pages of %s', async (size) => {
      const found = await pagesOf<Account>('list_accounts', size)
      const [rows] = await admin.query<mysql.RowDataPacket[]>(
        "select concat(User, '@', Host) id from mysql.user where is_role = 'N'",
      )
      expect(found.map((one) => one.integration_specific_id).sort()).toEqual(
        rows.map(({ id }) => id).sort(),
      )
      const off = found.filter((one) => one.user_status === 'SUSPENDED')
      expect(off.map((one) => one.username).sort()).toEqual(['mariadb.sys', 'user010', 'user020'])
      expect(found.filter((one) => one.username === 'dup')).toHaveLength(2)
    })

    test.each([5, undefined])(
      'lists databases, roles and privileges in pages of %s',
      async (size) => {
        const databases = await pagesOf<{ integration_specific_id: string }>('list_resources', size)
        expect(databases.map((one) => one.integration_specific_id)).toEqual([
          'finance',
          'ops',
          'sales',
          'sales_eu',
        ])
        const found = await pagesOf<Entitlement>('list_entitlements', size)
        expect(found).toHaveLength(4 + 4 * 9)
        const assignable = found
          .filter((one) => one.is_assignable)
          .map((one) => `${one.integration_specific_id} ${one.integration_specific_resource_id}`)
        expect(assignable.sort()).toEqual([
          'DELETE sales',
          'INSERT sales',
          'SELECT ops',
          'SELECT sales',
          'UPDATE ops',
          'UPDATE sales',
          'role_analyst ',
          'role_reader ',
          'role_writer ',
        ])
      },
    )

    test.each([11, undefined])(
      'lists who has which entitlement, with effective also through roles (%s)',
      async (size) => {
        const direct = await pagesOf<Association>('find_entitlement_associations', size)
        const all = await pagesOf<Association>('find_entitlement_associations', size, effective)
        const of = (list: Association[], id: string) =>
          list
            .filter((one) => one.account_id === id)
            .map(short)
            .sort()
        expect(new Set(direct.map((one) => JSON.stringify(one))).size).toBe(direct.length)
        expect(of(direct, 'user040@%')).toEqual([
          'SELECT sales_eu',
          'role_analyst',
          'role_reader',
          'role_writer',
        ])
        expect(of(direct, 'user040@%')).toEqual(await heldBy('user040@%'))
        await admin.query("revoke role_reader from user030@'%'")
        expect(await heldBy('user030@%')).toEqual(['role_analyst', 'role_writer'])
        expect(await heldBy('user030@%', effective)).toEqual([
          ...['DELETE sales', 'INSERT sales', 'SELECT sales', 'UPDATE sales'],
          ...['role_analyst', 'role_reader', 'role_writer'],
        ])
        await admin.query("grant role_reader to user030@'%'")
        expect(of(all, 'user040@%')).toEqual(await heldBy('user040@%', effective))
      },
    )

    test.each(ODD)(
      'creates %j, which can log in, be locked, unlocked and dropped',
      async (name) => {
        const password = `first1 '"\\ secret`
        const { id } = await done<{ id: string }>('create_account', {
          username: name,
          password,
          entitlements: [entitled('role_reader'), entitled('SELECT', 'ops')],
        })
        expect(id).toBe(`${name}@%`)
        expect(await done<Account>('get_account', { account_id: id })).toMatchObject({
          username: name,
          user_status: 'ACTIVE',
        })
        expect(await keptOut(name, password)).toBeNull()
        const grant = right(id, 'SELECT', 'ops')
        for (const _twice of [1, 2]) await done('unassign_entitlement', grant)
        for (const _twice of [1, 2]) await done('unassign_entitlement', role(id, 'role_reader'))
        expect(await heldBy(id)).toEqual([])
        expect(await keptOut(name, password)).toBe(1142)
        for (const _twice of [1, 2]) await done('assign_entitlement', grant)
        for (const _twice of [1, 2]) await done('assign_entitlement', role(id, 'role_reader'))
        expect(await heldBy(id)).toEqual(['SELECT ops', 'role_reader'])

        const client = await its.clientOf(name, password)
        const ended = new Promise((resolve) => client.on('error', resolve))
        const activity = await done<{ account_id: string; happened_at: string }[]>(
          'get_last_activity',
          { account_ids: [id, 'user001@%'] },
        )
        expect(activity).toMatchObject([{ account_id: id }])
        expect(Math.abs(Date.now() - Date.parse(activity[0]?.happened_at ?? ''))).toBeLessThan(
          600_000,
        )
        for (const _twice of [1, 2])
          expect(await done('deactivate_account', { account_id: id })).toEqual({
            status: 'SUSPENDED',
            deactivated: true,
          })
        await ended
        expect(await keptOut(name, password)).toBe(4151)
        expect((await done<Account>('get_account', { account_id: id })).user_status).toBe(
          'SUSPENDED',
        )
        for (const _twice of [1, 2]) await done('activate_account', { account_id: id })
        await done('update_account', { id, password: 'second-secret-2' })
        expect(await keptOut(name, password)).toBe(1045)
        expect(await keptOut(name, 'second-secret-2')).toBeNull()
        expect(
          await refused('create_account', { username: name, password, entitlements: [] }),
        ).toMatchObject({ error_code: 'bad_request', app_error_code: '1396' })
        await done('delete_account', { account_id: id })
        expect(await refused('get_account', { account_id: id })).toMatchObject({
          error_code: 'not_found',
        })
        expect(its.host.lines.join('\n')).not.toContain('second-secret-2')
      },
    )

    test('applies simultaneous changes of one account', async () => {
      const { id } = await done<{ id: string }>('create_account', {
        username: 'together',
        password: 'First-secret-1',
        entitlements: [],
      })
      for (const _round of [1, 2, 3]) {
        await together('deactivate_account', { account_id: id })
        await together('activate_account', { account_id: id })
        await together('assign_entitlement', role(id, 'role_reader'))
        await together('assign_entitlement', right(id, 'SELECT', 'ops'))
        expect(await heldBy(id)).toEqual(['SELECT ops', 'role_reader'])
        await together('unassign_entitlement', role(id, 'role_reader'))
        await together('unassign_entitlement', right(id, 'SELECT', 'ops'))
        await together('update_account', { id, password: 'Second-secret-1' })
      }
      expect(await heldBy(id)).toEqual([])
      await done('delete_account', { account_id: id })
    })

    test('creates an account with all entitlements, or none', async () => {
      const request = { username: 'half', password: 'password-1', host: '10.0.0.%' }
      const entitlements = [entitled('role_reader'), entitled('role_dba')]
      expect(await refused('create_account', { ...request, entitlements })).toMatchObject({
        error_code: 'permission_denied',
        app_error_code: '1698',
      })
      expect(await refused('get_account', { account_id: 'half@10.0.0.%' })).toMatchObject({
        error_code: 'not_found',
      })
      const suspended = { ...request, user_status: 'SUSPENDED', entitlements: [] }
      expect(await done('create_account', suspended)).toEqual({
        status: 'SUSPENDED',
        created: true,
        id: 'half@10.0.0.%',
      })
      await done('delete_account', { account_id: 'half@10.0.0.%' })
    })

    test('revokes privileges of a database whose name is a pattern, but not those granted by a pattern', async () => {
      await admin.query("grant insert, select on `sales_eu`.* to user001@'%'")
      await admin.query("grant select on `%les`.* to user001@'%'")
      await admin.query("grant all on `sales\\_eu`.* to connector@'%' with grant option")
      await admin.query("grant all on `sales_eu`.* to connector@'%' with grant option")
      await done('unassign_entitlement', right('user001@%', 'INSERT', 'sales_eu'))
      await done('assign_entitlement', right('user001@%', 'DELETE', 'sales_eu'))
      const [rows] = await admin.query<mysql.RowDataPacket[]>(
        "select Db from mysql.db where User = 'user001' and Delete_priv = 'Y'",
      )
      expect(rows).toEqual([{ Db: 'sales\\_eu' }])
      expect(
        await refused('unassign_entitlement', right('user001@%', 'SELECT', 'sales')),
      ).toMatchObject({
        error_code: 'unsupported_operation',
        app_error_code: 'held_in_another_way',
      })
    })

    test('with effective, reports that another role still grants a revoked role', async () => {
      for (const one of ['role_reader', 'role_analyst'])
        await admin.query(`grant ${one} to user003@'%'`)
      const asked = role('user003@%', 'role_reader')
      expect(await refused('unassign_entitlement', asked, effective)).toMatchObject({
        error_code: 'unsupported_operation',
        app_error_code: 'held_in_another_way',
      })
      expect(await heldBy('user003@%')).toEqual(['role_analyst'])
    })

    test.each<[string, string, object, string, string | null]>([
      [
        'a name that is too long',
        'create_account',
        { username: 'x'.repeat(129) },
        'invalid_value',
        '1470',
      ],
      ['a name with an emoji', 'create_account', { username: 'x🚀' }, 'invalid_value', '1300'],
      ['half of a character', 'get_account', { account_id: 'x\ud800@%' }, 'invalid_value', '22021'],
      ['a host with @', 'create_account', { username: 'x', host: '@' }, 'invalid_value', null],
      ['no name', 'create_account', {}, 'integration_missing_parameter', null],
      [
        'a weak password',
        'create_account',
        { username: 'x', password: 'weak' },
        'invalid_value',
        '1819',
      ],
      ['an unknown account', 'get_account', { account_id: 'nobody@%' }, 'not_found', '1133'],
      ['a role as an account', 'get_account', { account_id: 'role_reader@' }, 'not_found', '1133'],
      ['an invalid id', 'delete_account', { account_id: 'user001' }, 'not_found', '1133'],
      ['an unknown role', 'assign_entitlement', role('user001@%', 'none'), 'not_found', '1959'],
      [
        'an unknown database',
        'assign_entitlement',
        right('user001@%', 'SELECT', 'none'),
        'not_found',
        '1049',
      ],
      [
        'an unknown privilege',
        'assign_entitlement',
        right('user001@%', 'SUPER', 'ops'),
        'bad_request',
        null,
      ],
      [
        'a role that the connector may not grant',
        'assign_entitlement',
        role('user002@%', 'role_dba'),
        'permission_denied',
        '1698',
      ],
      [
        'a privilege that the connector may not grant',
        'assign_entitlement',
        right('user002@%', 'SELECT', 'finance'),
        'permission_denied',
        '1044',
      ],
    ])('refuses %s', async (_what, capability, request, error_code, app_error_code) => {
      const more =
        capability === 'create_account' ? { entitlements: [], password: 'password-1' } : {}
      expect(await refused(capability, { ...more, ...request })).toMatchObject({
        error_code,
        app_error_code,
      })
    })

    test('changes nothing as a read-only user, and reports the missing privilege', async () => {
      const as: Given = { as: ['reader', 'reader-1'] }
      expect((await pagesOf<Account>('list_accounts', 50, as)).length).toBeGreaterThan(40)
      for (const [capability, request] of [
        ['create_account', { username: 'x', password: 'password-1', entitlements: [] }],
        ['deactivate_account', { account_id: 'user001@%' }],
        ['delete_account', { account_id: 'user001@%' }],
        ['assign_entitlement', role('user001@%', 'role_reader')],
      ] as const)
        expect(await refused(capability, request, as)).toMatchObject({
          error_code: 'permission_denied',
          raised_by: 'SQLError',
        })
      expect(await refused('list_accounts', {}, { as: ['limited', 'limited-1'] })).toMatchObject({
        error_code: 'permission_denied',
        app_error_code: '1044',
      })
    })

    test.each([
      ['connector', 'not the password', '1045'],
      ['user010', 'pw-010', '4151'],
    ])('reports that %s cannot log in', async (user, password, app_error_code) => {
      expect(await refused('validate_credentials', {}, { as: [user, password] })).toMatchObject({
        error_code: 'unauthenticated',
        app_error_code,
      })
    })

    test('lists more entitlements of an account than fit in one query, and revokes one of them', async () => {
      const many = 10_001
      await admin.query("grant role_reader to user005@'%'")
      const before = await heldBy('user005@%')
      // Inserted in the server's own format.
      await admin.query(
        `insert into mysql.roles_mapping (Host, User, Role) select '%', 'user005', concat('many', seq) from mysql.seq_1_to_${many}`,
      )
      const found = await heldBy('user005@%')
      expect(found).toHaveLength(before.length + many)
      expect(new Set(found).size).toBe(before.length + many)
      await done('unassign_entitlement', role('user005@%', 'role_reader'))
      await admin.query("delete from mysql.roles_mapping where Role like 'many%'")
      expect(await heldBy('user005@%')).toEqual(before.filter((one) => one !== 'role_reader'))
    })

    // This test must be the last, since others list all accounts.
    test('lists a role of 100,000 members in pages that are read separately', async () => {
      const members = 100_000
      await admin.query('create role everyone')
      await admin.query('grant role_reader to everyone')
      // Inserted in the server's own format: 100,000 statements would take minutes.
      await admin.query(
        `insert into mysql.global_priv (Host, User, Priv) select '%', concat('member', seq), '{"access":0}' from mysql.seq_1_to_${members}`,
      )
      await admin.query(
        `insert into mysql.roles_mapping (Host, User, Role) select '%', concat('member', seq), 'everyone' from mysql.seq_1_to_${members}`,
      )
      const settings = { page_size: 5000 }
      const found = await pagesOf<Association>('find_entitlement_associations', undefined, {
        settings,
      })
      const held = found
        .filter((one) => /^member\d+@%$/.test(one.account_id))
        .map((one) => one.account_id)
      expect(held).toHaveLength(members)
      expect(new Set(held).size).toBe(members)
      const { body } = await call('find_entitlement_associations', {}, effective)
      expect(success<Association[]>(body).length).toBeGreaterThan(400)
      expect(body.page?.token).toBeTruthy()
    }, 300_000)
  },
)
