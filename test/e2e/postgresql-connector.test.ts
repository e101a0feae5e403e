/**
 * Runs the PostgreSQL connector end to end: through the host, its login, its sandbox and its proxy, against
 * real servers.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noDatabase } from '../egress/sql/database.ts'
import { failure, success } from './host.ts'
import {
  type Association,
  type Given,
  type PostgresqlSite,
  startPostgresqlSite,
  VERSIONS,
} from './postgresql-site.ts'

type Account = {
  integration_specific_id: string
  username: string
  user_status: string
  extra_data: { superuser: boolean; valid_until: string | null }
}
type Role = { integration_specific_id: string; is_assignable: boolean }

/** Names with the special characters of statements, lists and URLs. */
const ODD = [
  'Roe, Jane',
  'say "ho"',
  "o'neill",
  'back\\slash',
  ' leading space',
  'Jörg 🚀',
  '{x}',
  '$1; drop role connector',
  `long-${'x'.repeat(58)}`,
]

describe.skipIf(noDatabase !== null).each(VERSIONS)(
  `the PostgreSQL connector${noDatabase ? ` (${noDatabase})` : ''}, at %s`,
  (version) => {
    let site: PostgresqlSite
    beforeAll(async () => {
      site = await startPostgresqlSite(version)
    }, 180_000)
    afterAll(() => site?.stop())

    test('identifies its tenant by the server’s own id', async () => {
      const { rows } = await site.admin.query(
        'select system_identifier::text id from pg_control_system()',
      )
      const unique_tenant_id = rows[0].id
      expect(await site.done('validate_credentials')).toEqual({ valid: true, unique_tenant_id })
      const other = { settings: { database: 'postgres' } }
      expect(await site.done('validate_credentials', {}, other)).toEqual({
        valid: true,
        unique_tenant_id,
      })
    })

    test.each([7, undefined])('lists every account exactly once in pages of %s', async (size) => {
      const found = (await site.pagesOf<Account>('list_accounts', size)).flat()
      const { rows } = await site.admin.query('select rolname from pg_roles where rolcanlogin')
      expect(found.map((one) => one.username).sort()).toEqual(
        rows.map(({ rolname }) => rolname).sort(),
      )
      const off = found.filter((one) => one.user_status === 'SUSPENDED')
      expect(off.map((one) => one.username)).toEqual(['user020'])
    })

    test('lists roles, and which of them it may grant', async () => {
      const roles = (await site.pagesOf<Role>('list_entitlements', 10)).flat()
      const assignable = (name: string) =>
        roles.find((one) => one.integration_specific_id === name)?.is_assignable
      expect(assignable('readers')).toBe(true)
      expect(assignable('pg_monitor')).toBe(version === 'debian')
      expect(assignable('user010')).toBeDefined()
      expect(assignable('user001')).toBeUndefined()
    })

    test('lists memberships, with effective also those through other roles', async () => {
      const of = async (associations: string) =>
        (
          await site.pagesOf<Association>('find_entitlement_associations', 11, {
            settings: { associations },
          })
        )
          .flat()
          .map((one) => `${one.account_id} ${one.integration_specific_entitlement_id}`)
      const direct = await of('direct')
      expect(new Set(direct).size).toBe(direct.length)
      expect(direct).toContain('Doe, Jane readers')
      await site.admin.query('revoke readers from user030')
      expect(await of('direct')).not.toContain('user030 readers')
      expect(await of('effective')).toContain('user030 readers')
      expect(await site.heldBy('user030')).toEqual(['analysts', 'writers'])
      const effective = { settings: { associations: 'effective' } }
      expect(await site.heldBy('user030', effective)).toEqual(['analysts', 'readers', 'writers'])
      expect(
        await site.refused('unassign_entitlement', site.grant('user030', 'readers'), effective),
      ).toMatchObject({
        error_code: 'unsupported_operation',
        app_error_code: 'held_in_another_way',
      })
    })

    test.each(ODD)(
      'creates %j, which can log in, be deactivated, activated and dropped',
      async (name) => {
        const password = `first '"\\ secret`
        const readers = site.grant('', 'readers')
        const { entitlement_type, entitlement_integration_specific_id } = readers
        const id = await site.create(name, {
          password,
          entitlements: [
            {
              integration_specific_id: entitlement_integration_specific_id,
              integration_specific_resource_id: '',
              entitlement_type,
            },
          ],
        })
        const account = await site.done<Account>('get_account', { account_id: id })
        expect(account).toMatchObject({ username: name, user_status: 'ACTIVE' })
        expect(await site.keptOut(name, password)).toBeNull()

        for (const _twice of [1, 2])
          await site.done('unassign_entitlement', site.grant(id, 'readers'))
        expect(await site.heldBy(id)).toEqual([])
        expect(await site.keptOut(name, password)).toBe('42501')
        for (const _twice of [1, 2])
          await site.done('assign_entitlement', site.grant(id, 'readers'))
        expect(await site.heldBy(id)).toEqual(['readers'])

        const session = site.clientOf(name, password)
        const ended = new Promise((resolve) => session.on('error', resolve))
        await session.connect()
        const [activity] = await site.done<{ account_id: string }[]>('get_last_activity', {
          account_ids: [id, 'user001'],
        })
        expect(activity?.account_id).toBe(id)
        for (const _twice of [1, 2])
          expect(await site.done('deactivate_account', { account_id: id })).toEqual({
            status: 'SUSPENDED',
            deactivated: true,
          })
        await ended
        expect(await site.keptOut(name, password)).toBe('53300')
        expect((await site.done<Account>('get_account', { account_id: id })).user_status).toBe(
          'SUSPENDED',
        )
        for (const _twice of [1, 2]) await site.done('activate_account', { account_id: id })
        expect(await site.keptOut(name, password)).toBeNull()

        await site.done('update_account', { id, password: 'second-secret' })
        expect(await site.keptOut(name, password)).toBe('28P01')
        expect(await site.keptOut(name, 'second-secret')).toBeNull()
        expect(
          await site.refused('create_account', { username: name, entitlements: [] }),
        ).toMatchObject({
          error_code: 'bad_request',
          app_error_code: '42710',
        })

        await site.done('delete_account', { account_id: id })
        expect(await site.refused('get_account', { account_id: id })).toMatchObject({
          error_code: 'not_found',
          app_error_code: '42704',
        })
        expect(site.host.lines.join('\n')).not.toContain('second-secret')
      },
    )

    test('applies simultaneous changes of one account', async () => {
      const account_id = await site.create('many at once', { password: 'first-secret' })
      for (const _round of [1, 2, 3]) {
        await site.together('deactivate_account', { account_id })
        await site.together('activate_account', { account_id })
        await site.together('assign_entitlement', site.grant(account_id, 'readers'))
        expect(await site.heldBy(account_id)).toEqual(['readers'])
        await site.together('unassign_entitlement', site.grant(account_id, 'readers'))
        await site.together('update_account', { id: account_id, password: 'second-secret' })
      }
      expect(await site.heldBy(account_id)).toEqual([])
      expect(await site.keptOut('many at once', 'second-secret')).toBe('42501')
      await site.done('delete_account', { account_id })
    })

    test('creates an account with all its roles, or none', async () => {
      const entitlements = ['readers', 'no_such_role'].map((integration_specific_id) => ({
        integration_specific_id,
        integration_specific_resource_id: '',
        entitlement_type: 'ROLE',
      }))
      expect(
        await site.refused('create_account', { username: 'half', entitlements }),
      ).toMatchObject({
        error_code: 'not_found',
        app_error_code: '42704',
      })
      expect(await site.refused('get_account', { account_id: 'half' })).toMatchObject({
        error_code: 'not_found',
      })
    })

    test('activates an account that has expired', async () => {
      expect(await site.keptOut('user020', 'pw-020')).toBe('28P01')
      await site.done('activate_account', { account_id: 'user020' })
      expect(await site.keptOut('user020', 'pw-020')).toBeNull()
    })

    test('refuses to delete an account that owns objects, and says what to do', async () => {
      const id = await site.create('owner', { password: 'an-owner' })
      await site.admin.query('create table ops.owned (id int)')
      await site.admin.query('alter table ops.owned owner to owner')
      expect(await site.refused('delete_account', { account_id: id })).toMatchObject({
        error_code: 'bad_request',
        app_error_code: '2BP01',
        message: expect.stringMatching(/REASSIGN OWNED.*DROP OWNED/),
      })
      await site.admin.query('drop owned by owner')
      await site.done('delete_account', { account_id: id })
    })

    test.each([
      ['a name of 64 bytes', { username: 'x'.repeat(64) }, 'invalid_value', '42622'],
      ['a reserved name', { username: 'pg_mine' }, 'invalid_value', '42939'],
      ['half of a character', { username: 'x\ud800' }, 'invalid_value', '22021'],
      ['no name', {}, 'integration_missing_parameter', null],
      ['an unknown status', { username: 'x', user_status: 'GONE' }, 'invalid_value', null],
    ])('refuses %s', async (_what, request, error_code, app_error_code) => {
      expect(await site.refused('create_account', { entitlements: [], ...request })).toMatchObject({
        error_code,
        app_error_code,
      })
    })

    test.each([
      ['an unknown role', 'nobody'],
      ['a role', 'readers'],
      ['an empty value', ''],
      ['a name that the server would truncate', 'x'.repeat(100)],
    ])('does not accept %s as an account', async (_what, account_id) => {
      for (const capability of ['get_account', 'delete_account', 'deactivate_account'])
        expect(await site.refused(capability, { account_id })).toMatchObject({
          error_code: 'not_found',
        })
    })

    test('refuses half of a surrogate pair in the name of an account', async () => {
      const id = await site.create('x\ufffd')
      for (const capability of ['get_account', 'delete_account'])
        expect(await site.refused(capability, { account_id: 'x\ud800' })).toMatchObject({
          ...{ error_code: 'invalid_value', app_error_code: '22021' },
        })
      await site.done('delete_account', { account_id: id })
    })

    test('reports that it may not grant a role', async () => {
      const answer = await site.call('assign_entitlement', site.grant('user002', 'dba'))
      if (version === 'debian') success(answer.body)
      else
        expect(failure(answer)).toMatchObject({
          error_code: 'permission_denied',
          app_error_code: '42501',
        })
    })

    test('reports that only the grantor of a role may revoke it', async () => {
      await site.admin.query('grant writers to user003')
      const answer = await site.call('unassign_entitlement', site.grant('user003', 'writers'))
      if (version === 'debian') {
        success(answer.body)
        expect(await site.heldBy('user003')).toEqual([])
      } else expect(failure(answer)).toMatchObject({ error_code: 'permission_denied' })
    })

    test('changes nothing as a read-only user', async () => {
      const as: Given = { as: ['reader', 'reader-secret'] }
      expect((await site.pagesOf<Account>('list_accounts', 50, as)).flat().length).toBeGreaterThan(
        40,
      )
      for (const [capability, request] of [
        ['create_account', { username: 'x', entitlements: [] }],
        ['deactivate_account', { account_id: 'user001' }],
        ['delete_account', { account_id: 'user001' }],
        ['assign_entitlement', site.grant('user001', 'readers')],
      ] as const)
        expect(await site.refused(capability, request, as)).toMatchObject({
          error_code: 'permission_denied',
          app_error_code: '42501',
          raised_by: 'SQLError',
        })
    })

    test('reports a wrong password', async () => {
      const as: Given = { as: ['connector', 'not the password'] }
      expect(await site.refused('validate_credentials', {}, as)).toMatchObject({
        error_code: 'unauthenticated',
        app_error_code: '28P01',
      })
    })

    // This test must be the last, since others list all accounts.
    test("lists a role of 100,000 members although the server's statistics say that it has none", async () => {
      const members = 100_000
      await site.admin.query('alter system set autovacuum = off')
      await site.admin.query('select pg_reload_conf()')
      await site.admin.query('create role everyone in role readers')
      // Limited by the number of locks in a transaction.
      for (let from = 0; from < members; from += 4000)
        await site.admin.query(
          `do $$ begin for n in ${from + 1}..${from + 4000} loop execute 'create role member' || n || ' login in role everyone'; end loop; end $$`,
        )
      // Simulates many new members since the tables were last analysed.
      await site.admin.query('set allow_system_table_mods = on')
      await site.admin.query(
        "update pg_class set reltuples = 0, relpages = 1 where relname in ('pg_authid', 'pg_auth_members')",
      )
      await site.admin.query(
        "delete from pg_statistic where starelid in ('pg_authid'::regclass, 'pg_auth_members'::regclass)",
      )
      const settings = { associations: 'effective', page_size: 5000 }
      const found = await site.pagesOf<Association>('find_entitlement_associations', undefined, {
        settings,
      })
      const ofMembers = found
        .flat()
        .filter((one) => /^member\d+$/.test(one.account_id))
        .map((one) => `${one.account_id} ${one.integration_specific_entitlement_id}`)
      expect(ofMembers).toHaveLength(2 * members)
      expect(new Set(ofMembers).size).toBe(2 * members)
      expect(await site.heldBy('member7', { settings })).toEqual(['everyone', 'readers'])
      await site.done('unassign_entitlement', site.grant('member7', 'writers'))
    }, 300_000)
  },
)
