/**
 * Tests what the PostgreSQL connector reports as revoked, and what is then still possible at the server
 * itself.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noDatabase } from '../egress/sql/database.ts'
import { type PostgresqlSite, startPostgresqlSite, VERSIONS } from './postgresql-site.ts'

const role = (integration_specific_id: string, resource = '') => ({
  integration_specific_id,
  integration_specific_resource_id: resource,
  entitlement_type: 'ROLE',
})

describe.skipIf(noDatabase !== null).each(VERSIONS)(
  `access at PostgreSQL${noDatabase ? ` (${noDatabase})` : ''}, at %s`,
  (version) => {
    let site: PostgresqlSite
    beforeAll(async () => {
      site = await startPostgresqlSite(version)
    }, 180_000)
    afterAll(() => site?.stop())

    const statusOf = async (account_id: string) =>
      (await site.done<{ user_status: string }>('get_account', { account_id })).user_status

    test('is listed with correct names in a database of their encoding, and refused in others', async () => {
      await site.admin.query(
        "create database latin encoding 'LATIN1' locale 'C' template template0",
      )
      await site.admin.query('grant connect on database latin to connector')
      const { host: at, port } = site.database
      const admin = new pg.Client({
        ...{ host: at, port, database: 'latin', ssl: false },
        ...{ user: 'admin', password: 'admin-secret' },
      })
      await admin.connect()
      await admin.query('create role "zö" login; create role "zü" login; grant readers to "zü"')
      const latin = { settings: { database: 'latin' } }
      const names = (await site.pagesOf<{ username: string }>('list_accounts', undefined, latin))
        .flat()
        .map((one) => one.username)
      expect(names.filter((name) => name.startsWith('z'))).toEqual(['zö', 'zü'])
      expect(await site.heldBy('zü', latin)).toEqual(['readers'])
      expect(
        await site.refused('create_account', { username: 'łatin', entitlements: [] }, latin),
      ).toMatchObject({ error_code: 'invalid_value', app_error_code: '22P05' })
      const refusal = await site.refused('list_accounts')
      expect(refusal).toMatchObject({ error_code: 'invalid_response', app_error_code: '22021' })
      expect(refusal.message).toContain('another encoding')
      await admin.query('drop role "zö"; drop role "zü"')
      await admin.end()
      expect(await site.done('list_accounts')).not.toEqual([])
    })

    test('ends for a session that uses a role when the role is revoked', async () => {
      const password = 'in-a-session'
      const id = await site.create('hourly', { password, entitlements: [role('readers')] })
      const session = site.clientOf(id, password)
      const ended = new Promise((resolve) => session.on('error', resolve))
      await session.connect()
      await session.query('set role readers')
      expect((await session.query('select count(*)::int n from sales.orders')).rows).toHaveLength(1)
      await site.done('unassign_entitlement', site.grant(id, 'readers'))
      await ended
      await expect(session.query('select 1')).rejects.toThrow()
      expect(await site.keptOut(id, password)).toBe('42501')
    })

    test.each([
      ['with a limit of five connections', 'limited', 5, null],
      ['with a limit of five connections and a comment', 'commented', 5, "of 'sales'\nand more"],
      ['without a limit', 'unlimited', -1, 'as it was'],
    ])(
      'is restored as it was when an account is deactivated and activated: %s',
      async (_what, name, limit, comment) => {
        await site.create(name, { password: 'switched' })
        await site.admin.query(`alter role ${name} connection limit ${limit}`)
        if (comment !== null)
          await site.admin.query(`comment on role ${name} is '${comment.replaceAll("'", "''")}'`)
        const stateOf = async () =>
          (
            await site.admin.query(
              "select rolconnlimit as limit, shobj_description(oid, 'pg_authid') as comment from pg_roles where rolname = $1",
              [name],
            )
          ).rows[0]
        const before = await stateOf()
        for (const _twice of [1, 2]) await site.done('deactivate_account', { account_id: name })
        expect(await statusOf(name)).toBe('SUSPENDED')
        expect(await site.keptOut(name, 'switched')).toBe('53300')
        for (const _twice of [1, 2]) await site.done('activate_account', { account_id: name })
        expect(await stateOf()).toEqual(before)
        expect(before).toEqual({ limit, comment })
      },
    )

    test.each([
      ['a comment that is too long to hold a limit', 'x'.repeat(1020), 5, -1],
      ['an invalid limit in its comment', '[Keyway: connection limit 99999999999]', -1, -1],
      ['no limit and one in its comment', '[Keyway: connection limit 5]', -1, -1],
      ['a limit of zero in its comment', '[Keyway: connection limit 0]', 7, 7],
    ])('can be deactivated and activated with %s', async (what, comment, limit, after) => {
      const name = what.replaceAll(' ', '_').slice(0, 60)
      await site.create(name, { password: 'switched' })
      await site.admin.query(`alter role ${name} connection limit ${limit}`)
      await site.admin.query(`comment on role ${name} is '${comment}'`)
      await site.done('deactivate_account', { account_id: name })
      expect(await statusOf(name)).toBe('SUSPENDED')
      await site.done('activate_account', { account_id: name })
      expect(await statusOf(name)).toBe('ACTIVE')
      const { rows } = await site.admin.query(
        'select rolconnlimit as limit from pg_roles where rolname = $1',
        [name],
      )
      expect(rows).toEqual([{ limit: after }])
    })

    test('is listed with its expiry, which may be before Christ or never', async () => {
      await site.create('ending', { password: 'ending' })
      const endOf = async (until: string) => {
        await site.admin.query(`alter role ending valid until '${until}'`)
        const { user_status, extra_data } = await site.done<{
          user_status: string
          extra_data: { valid_until: string | null }
        }>('get_account', { account_id: 'ending' })
        return [user_status, extra_data.valid_until]
      }
      expect(await endOf('2001-02-03 04:05:06+00')).toEqual(['SUSPENDED', '2001-02-03T04:05:06Z'])
      expect(await endOf('0044-03-15 12:00:00+00 BC')).toEqual([
        'SUSPENDED',
        '0044-03-15 12:00:00+00 BC',
      ])
      expect(await endOf('-infinity')).toEqual(['SUSPENDED', '-infinity'])
      expect(await endOf('infinity')).toEqual(['ACTIVE', null])
    })

    test.skipIf(version === 'debian').each([
      ['for an account that inherits', 'inherit', { inherit_option: true, set_option: true }, null],
      [
        'for an account that does not inherit and sets its role',
        'noinherit',
        { inherit_option: false, set_option: true },
        '42501',
      ],
    ])(
      'becomes usable when a role is granted over an unusable membership: %s',
      async (_what, way, options, why) => {
        const name = `useless_${way}`
        await site.admin.query(
          `create role ${name} login ${way} password 'of-no-use'; grant ${name} to connector with admin true, inherit false, set false`,
        )
        await site.admin.query(
          `grant readers to ${name} with inherit false, set false granted by connector`,
        )
        await site.done('assign_entitlement', site.grant(name, 'readers'))
        const { rows } = await site.admin.query(
          'select inherit_option, set_option from pg_auth_members where member = $1::regrole',
          [name],
        )
        expect(rows).toEqual([options])
        expect(await site.keptOut(name, 'of-no-use')).toBe(why)
      },
    )

    test('can be revoked from the connector’s own role without ending the call', async () => {
      await site.admin.query('create role spare; grant spare to connector with admin option')
      await site.admin.query('create role spare2; grant spare2 to connector')
      for (const one of ['spare', 'spare2']) {
        const answer = await site.call('unassign_entitlement', site.grant('connector', one))
        expect(JSON.stringify(answer.body)).not.toMatch(/57P01|service_error/)
      }
      expect(await statusOf('connector')).toBe('ACTIVE')
    })

    test.each(['superuser', 'replication'])(
      'of roles that bypass connection limits cannot be deactivated: %s',
      async (attribute) => {
        const id = `above_${attribute}`
        await site.admin.query(`create role ${id} login ${attribute} connection limit 0`)
        expect(await statusOf(id)).toBe('ACTIVE')
        expect(await site.refused('deactivate_account', { account_id: id })).toMatchObject({
          ...{ error_code: 'unsupported_operation', app_error_code: 'above_limits' },
          message: expect.stringContaining('NOSUPERUSER NOREPLICATION'),
        })
        await site.admin.query(`alter role ${id} no${attribute}`)
        expect(await statusOf(id)).toBe('SUSPENDED')
      },
    )

    const TAKING: [string, object][] = [
      ['deactivate_account', { account_id: 'connector' }],
      ['delete_account', { account_id: 'connector' }],
      ['update_account', { id: 'connector', password: 'of-nobody' }],
    ]

    test.each(TAKING)(
      "of the connector's own role is protected: %s",
      async (capability, request) => {
        expect(await site.refused(capability, request)).toMatchObject({
          ...{ error_code: 'unsupported_operation', app_error_code: 'own_account' },
        })
        expect(await statusOf('connector')).toBe('ACTIVE')
      },
    )

    test("of the connector's own role is protected if it acts as another role", async () => {
      const again = `select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = 'connector'`
      await site.admin.query(`
        create role dbas createrole; grant dbas to connector;
        alter role connector set role = dbas; ${again}`)
      try {
        for (const [capability, request] of TAKING)
          expect(await site.refused(capability, request)).toMatchObject({
            app_error_code: 'own_account',
          })
      } finally {
        await site.admin.query(
          `alter role connector reset role; alter role connector connection limit -1; ${again}`,
        )
      }
    })

    test('cannot be granted through pg_database_owner, which has no other members', async () => {
      const [of] = (await site.pagesOf<{ integration_specific_id: string }>('list_entitlements'))
        .flat()
        .filter((one) => one.integration_specific_id === 'pg_database_owner')
      expect(of).toMatchObject({ is_assignable: false })
      const entitlements = [role('readers'), role('pg_database_owner')]
      for (const [capability, request] of [
        ['assign_entitlement', site.grant('user002', 'pg_database_owner')],
        ['create_account', { username: 'unowned', entitlements }],
      ] as const)
        expect(await site.refused(capability, request)).toMatchObject({
          ...{ error_code: 'unsupported_operation', app_error_code: 'owners_role' },
        })
    })

    test("is changed without running functions of other users with the connector's rights", async () => {
      await site.admin.query(`
        grant create on schema public to public;
        create table public.called (what text); grant insert on public.called to public;
        set role user001;
        create function public.shobj_description(oid, text) returns text language sql as $$ select 'of another' $$;
        create function public.pg_has_role(oid, varchar) returns bool language sql as $$ select true $$;
        create function public.pg_terminate_backend(integer) returns bool language plpgsql as
          $$ begin insert into public.called values (current_user); return true; end $$;
        reset role`)
      const roles = (await site.pagesOf<{ description: string | null }>('list_entitlements')).flat()
      expect(roles.map((one) => one.description)).not.toContain('of another')
      const password = 'not-by-others'
      const id = await site.create('ended', { password })
      const session = site.clientOf(id, password)
      const ended = new Promise((resolve) => session.on('error', resolve))
      await session.connect()
      await site.done('deactivate_account', { account_id: id })
      await ended
      expect((await site.admin.query('select what from public.called')).rows).toEqual([])
    })

    test.each([
      ['spoof, pg_catalog', 'on'],
      ['spoof, pg_catalog', 'off'],
      ['"PG_CATALOG", spoof , "pg_catalog", public', 'on'],
      ['pg_catalog', 'on'],
    ])(
      'is read from pg_catalog, not from objects of the database owner: %s, standard strings %s',
      async (path, standard) => {
        const name = 'owner of the database'
        await site.admin.query(`
          drop schema if exists spoof cascade;
          create schema spoof; create table spoof.called (what text); create schema if not exists "PG_CATALOG";
          grant usage on schema spoof to public; grant insert on spoof.called to public;
          create view spoof.pg_roles as select * from pg_catalog.pg_roles where false;
          grant select on spoof.pg_roles to public;
          create function spoof.eq(oid, oid) returns bool language plpgsql as
            $$ begin insert into spoof.called values (current_user); return $1 operator(pg_catalog.=) $2; end $$;
          create operator spoof.= (leftarg = oid, rightarg = oid, function = spoof.eq);
          alter database corp set search_path = ${path};
          alter database corp set standard_conforming_strings = ${standard};
          select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = 'connector'`)
        try {
          const account_id = await site.create(name)
          expect(await statusOf(account_id)).toBe('ACTIVE')
          await site.done('deactivate_account', { account_id })
          await site.done('delete_account', { account_id })
          expect((await site.admin.query('select what from spoof.called')).rows).toEqual([])
        } finally {
          await site.admin.query(`alter database corp reset search_path;
            alter database corp reset standard_conforming_strings;
            select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = 'connector'`)
        }
      },
    )

    test.each([
      ['a role that logs in', [role('user001')], 'not_found'],
      ['a role with a resource', [role('readers', 'made-up')], 'not_found'],
      ['more roles than one transaction may grant', Array(49).fill(role('readers')), 'bad_request'],
    ])('an account is not created with %s', async (_what, entitlements, error_code) => {
      const request = { username: 'unmade', entitlements }
      expect(await site.refused('create_account', request)).toMatchObject({ error_code })
      expect(await site.refused('get_account', { account_id: 'unmade' })).toMatchObject({
        error_code: 'not_found',
      })
    })

    test.each(['pass½word', 'ａｂ-full-width', 'soft\u00adhyphen', 'zero\u200bwidth', '①'])(
      'an account is refused a password that clients normalize differently: %j',
      async (password) => {
        const request = { username: 'two-ways', entitlements: [], password }
        expect(await site.refused('create_account', request)).toMatchObject({
          ...{ error_code: 'invalid_value', app_error_code: '22023' },
        })
      },
    )

    test('an account with a non-ASCII password can log in', async () => {
      const password = 'Größe-пароль-密碼'
      const id = await site.create('letters', { password, entitlements: [role('readers')] })
      expect(await site.keptOut(id, password)).toBeNull()
    })
  },
)
