/**
 * Tests what the MariaDB connector changes about logins of accounts, including its own, against a real
 * server.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import manifest from '../../plugins/mariadb/connector.json' with { type: 'json' }
import { noMariadb } from '../egress/sql/mariadb.ts'
import { entitled, type MariadbHost, right, role, startMariadbHost } from './mariadb.ts'

const CREATE = manifest.statements.create.text

describe.skipIf(noMariadb !== null)(
  `logins of MariaDB${noMariadb ? ` (${noMariadb})` : ''}`,
  () => {
    let its: MariadbHost

    beforeAll(async () => {
      its = await startMariadbHost()
      await its.admin.query(`install soname 'auth_ed25519';
      create user native@'%' identified by 'password-1';
      create user ed@'%' identified via ed25519 using password('password-1');
      create user socket@'%' identified via unix_socket;
      create user twofold@'%' identified via unix_socket or ed25519 using password('password-1')`)
    }, 180_000)
    afterAll(() => its?.stop())

    const howOf = async (user: string) =>
      (
        await its.rows(
          "select json_value(Priv, '$.plugin') plugin, json_value(Priv, '$.authentication_string') kept from mysql.global_priv where User = ?",
          [user],
        )
      )[0]

    test.each([
      ['native', 'mysql_native_password'],
      ['ed', 'ed25519'],
    ])('keep their plugin when a password is set: %s', async (user, plugin) => {
      const before = await howOf(user)
      await its.done('update_account', { id: `${user}@%`, password: 'password-2' })
      const after = await howOf(user)
      expect(after).toMatchObject({ plugin })
      expect(after?.['kept']).not.toBe(before?.['kept'])
      if (user === 'native') await (await its.clientOf(user, 'password-2')).end()
      const weak = { id: `${user}@%`, password: 'weak' }
      expect(await its.refused('update_account', weak)).toMatchObject({
        error_code: 'bad_request',
        app_error_code: '1396',
      })
      expect(await howOf(user)).toEqual(after)
    })

    test.each(['socket', 'twofold'])(
      'of other kinds are not given a password: %s',
      async (user) => {
        const before = await howOf(user)
        const asked = { id: `${user}@%`, password: 'password-2' }
        expect(await its.refused('update_account', asked)).toMatchObject({
          error_code: 'unsupported_operation',
          app_error_code: 'other_login',
          message: expect.stringMatching(/unix_socket|several ways/),
        })
        expect(await howOf(user)).toEqual(before)
      },
    )

    test.each([
      ['deactivate_account', { account_id: 'connector@%' }],
      ['delete_account', { account_id: 'connector@%' }],
      ['update_account', { id: 'connector@%', password: 'password-2' }],
    ])("of the connector's own account are protected: %s", async (capability, request) => {
      expect(await its.refused(capability, request)).toMatchObject({
        error_code: 'unsupported_operation',
        app_error_code: 'own_account',
        message: expect.stringMatching(/signs in/),
      })
      expect(await its.done('validate_credentials')).toMatchObject({ valid: true })
      const other = { account_id: 'connector@10.0.0.1' }
      expect(await its.refused('delete_account', other)).toMatchObject({ error_code: 'not_found' })
    })

    test.each([
      ['a role', role('open@%', 'role_reader'), 'sales.orders'],
      ['a privilege', right('open@%', 'SELECT', 'ops'), 'ops.tickets'],
    ])('connections end when a revoked entitlement is in use: %s', async (_what, asked, table) => {
      const setUp = "create or replace user open@'%' identified by 'password-1'"
      await its.admin.query(setUp)
      await its.done('assign_entitlement', asked)
      const client = await its.clientOf('open', 'password-1')
      if ('' === asked.resource_type) await client.query('set role role_reader')
      await client.query(`use ${table.split('.')[0]}`)
      const ended = new Promise((resolve) => client.on('error', resolve))
      await client.query(`select note from ${table}`)
      expect(await its.done('unassign_entitlement', asked)).toEqual({ unassigned: true })
      await ended
      await expect(client.query(`select note from ${table}`)).rejects.toThrow()
    })

    test.each([
      ["via ed25519 using password('by-ed-1')", '1251', /mysql_native_password/],
      ['via unix_socket', '1698', /without a password/],
    ])(
      "of the connector's user %s are reported as unsupported",
      async (how, app_error_code, message) => {
        await its.admin.query(`create or replace user other_way@'%' identified ${how}`)
        expect(
          await its.refused('validate_credentials', {}, { as: ['other_way', 'by-ed-1'] }),
        ).toMatchObject({
          ...{ error_code: 'unauthenticated', app_error_code },
          message: expect.stringMatching(message),
        })
        await its.admin.query("drop user other_way@'%'")
      },
    )

    test('of the connector continue after it revokes one of its own privileges', async () => {
      const asked = right('connector@%', 'SELECT', 'finance')
      expect(await its.done('unassign_entitlement', asked)).toEqual({ unassigned: true })
    })

    test('into a new account are only possible after all grants', async () => {
      await its.admin.query("set global log_output = 'TABLE', global general_log = 1")
      const entitlements = [entitled('role_reader'), entitled('SELECT', 'ops')]
      const request = { username: 'newcomer', password: 'password-1', entitlements }
      expect(await its.done('create_account', request)).toMatchObject({ status: 'ACTIVE' })
      await its.admin.query('set global general_log = 0')
      const sent = await its.rows(
        "select lower(substring_index(argument, ' ', 1)) word, argument like '%account lock' locks, argument like '%account unlock' unlocks from mysql.general_log where argument regexp '^(create|grant|alter) ' and argument like '%newcomer%' order by event_time",
      )
      expect(sent.map(({ word, locks, unlocks }) => [word, locks, unlocks])).toEqual([
        ['create', 1, 0],
        ['grant', 0, 0],
        ['grant', 0, 0],
        ['alter', 0, 1],
      ])
      await (await its.clientOf('newcomer', 'password-1')).end()
      const off = { ...request, username: 'later', user_status: 'SUSPENDED' }
      expect(await its.done('create_account', off)).toMatchObject({ status: 'SUSPENDED' })
      await expect(its.clientOf('later', 'password-1')).rejects.toThrow(/locked/)
    })

    /** Leaves an account as a call that was interrupted would. */
    async function leave(user: string, secondsAgo: number) {
      const text = CREATE.replace('{identifier:user}', `'${user}'`)
        .replace('{identifier:host}', "'%'")
        .replace('{password:password}', "'password-1'")
      await its.admin.query(`${text}; grant insert on ops.* to ${user}@'%';
        update mysql.global_priv set Priv = json_set(Priv, '$.password_last_changed', unix_timestamp() - ${secondsAgo}) where User = '${user}';
        flush privileges`)
    }

    test('a new account replaces one that an interrupted call left incomplete', async () => {
      await leave('half', 61)
      const entitlements = [entitled('SELECT', 'ops')]
      const request = { username: 'half', password: 'password-2', entitlements }
      expect(await its.done('create_account', request)).toMatchObject({ status: 'ACTIVE' })
      await (await its.clientOf('half', 'password-2')).end()
      expect(await its.heldBy('half@%')).toEqual(['SELECT ops'])
      expect(await its.refused('create_account', request)).toMatchObject({
        error_code: 'bad_request',
        app_error_code: '1396',
      })
    })

    test('a new account is refused while another call may still be creating it', async () => {
      await leave('begun', 30)
      const request = { username: 'begun', password: 'password-2', entitlements: [] }
      expect(await its.refused('create_account', request)).toMatchObject({
        error_code: 'service_error',
        app_error_code: 'half_made',
      })
      expect(await its.heldBy('begun@%')).toEqual(['INSERT ops'])
      await its.done('activate_account', { account_id: 'begun@%' })
      await (await its.clientOf('begun', 'password-1')).end()
    })

    test('a new account does not replace an incomplete one that was unlocked', async () => {
      await leave('used', 61)
      await its.admin.query("alter user used@'%' account unlock")
      const request = { username: 'used', password: 'password-2', entitlements: [] }
      expect(await its.refused('create_account', request)).toMatchObject({ app_error_code: '1396' })
      expect(await its.heldBy('used@%')).toEqual(['INSERT ops'])
    })

    test('a new account does not replace one that an administrator locked', async () => {
      const request = { username: 'locked', password: 'password-1', entitlements: [] }
      await its.done('create_account', { ...request, user_status: 'SUSPENDED' })
      await its.admin.query(
        "update mysql.global_priv set Priv = json_set(Priv, '$.password_last_changed', 1) where User = 'locked'",
      )
      const again = { ...request, password: 'password-2' }
      expect(await its.refused('create_account', again)).toMatchObject({
        error_code: 'bad_request',
        app_error_code: '1396',
      })
      await its.done('activate_account', { account_id: 'locked@%' })
      await (await its.clientOf('locked', 'password-1')).end()
    })

    test('a new account has the id that the server stores, and is not found by another spelling', async () => {
      const request = { username: 'Spelt', password: 'password-1', entitlements: [] }
      const { id } = await its.done<{ id: string }>('create_account', {
        ...request,
        host: 'LOCALHOST',
      })
      expect(id).toBe('Spelt@localhost')
      expect(await its.done('get_account', { account_id: id })).toMatchObject({ username: 'Spelt' })
      for (const given of [{ username: 'ada ' }, { host: '10.0.0.1 ' }])
        expect(await its.refused('create_account', { ...request, ...given })).toMatchObject({
          error_code: 'invalid_value',
        })
      for (const account_id of ['x🚀@%', 'jürgen 🚀@%', 'Spelt @localhost', 'spelt@localhost'])
        expect(await its.refused('get_account', { account_id })).toMatchObject({
          error_code: 'not_found',
          app_error_code: '1133',
        })
      expect(await its.refused('assign_entitlement', role(id, 'x🚀'))).toMatchObject({
        error_code: 'not_found',
        app_error_code: '1959',
      })
    })
  },
)
