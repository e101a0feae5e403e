/** Tests which connections the MariaDB connector ends, against a real server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noMariadb } from '../egress/sql/mariadb.ts'
import { type Given, type MariadbHost, right, startMariadbHost } from './mariadb.ts'

describe.skipIf(noMariadb !== null)(
  `connections of MariaDB${noMariadb ? ` (${noMariadb})` : ''}`,
  () => {
    let its: MariadbHost

    beforeAll(async () => {
      its = await startMariadbHost()
    }, 180_000)
    afterAll(() => its?.stop())

    /** Creates accounts with one name at several hosts. */
    async function accounts(user: string, hosts: readonly string[]) {
      for (const host of hosts)
        await its.admin.query(`create user '${user}'@'${host}' identified by 'password-1'`)
    }

    /** Opens a connection from an address; `took` is the account that the server chose for it. */
    async function session(user: string, from: string) {
      const client = await its.clientOf(user, 'password-1', undefined, from)
      client.on('error', () => {})
      const [[row]] = await client.query<never[]>('select current_user() as took')
      const isOpen = () =>
        client.query('select 1').then(
          () => true,
          () => false,
        )
      return { took: String(Object(row).took), isOpen, end: () => client.end().catch(() => {}) }
    }

    const off = (account_id: string) => its.done('deactivate_account', { account_id })

    test.each([
      ['all hosts', '%', '127.0.0.9'],
      ['a pattern of hosts', '127.%', '127.0.0.9'],
      ['a pattern with one wildcard character', '127.0.0._', '127.0.0.9'],
      ['a network', '127.0.0.0/255.255.255.0', '127.0.0.9'],
      ['one address', '127.0.0.9', '127.0.0.9'],
    ])('are ended for an account of %s', async (_what, host, from) => {
      const user = `of ${host}`
      await accounts(user, [host])
      for (const [capability, request] of [
        ['unassign_entitlement', right(`${user}@${host}`, 'SELECT', 'ops')],
        ['deactivate_account', { account_id: `${user}@${host}` }],
        ['delete_account', { account_id: `${user}@${host}` }],
      ] as const) {
        await its.done('activate_account', { account_id: `${user}@${host}` })
        const open = await session(user, from)
        expect(open.took).toBe(`${user}@${host}`)
        await its.done(capability, request)
        await expect.poll(open.isOpen).toBe(false)
        await open.end()
      }
    })

    test('of narrower accounts with the same name are ended too, those of wider ones are not', async () => {
      await accounts('several', ['%', '127.0.0.%', '127.0.0.9'])
      const addresses = ['127.1.0.1', '127.0.0.1', '127.0.0.9']
      const sessions = () => Promise.all(addresses.map((from) => session('several', from)))
      const open = await sessions()
      const account_ids = ['several@%', 'several@127.0.0.%', 'several@127.0.0.9']
      expect(open.map((one) => one.took)).toEqual(account_ids)
      const active = async () =>
        (await its.done<{ account_id: string }[]>('get_last_activity', { account_ids }))
          .map((one) => one.account_id)
          .sort()
      expect(await active()).toEqual(account_ids)
      const areOpen = (all: typeof open) => Promise.all(all.map((one) => one.isOpen()))
      await off('several@127.0.0.9')
      await expect.poll(() => areOpen(open)).toEqual([true, true, false])
      await off('several@127.0.0.%')
      await expect.poll(() => areOpen(open)).toEqual([true, false, false])
      await its.done('activate_account', { account_id: 'several@127.0.0.9' })
      const [, , again] = await Promise.all([...open.slice(0, 2), session('several', '127.0.0.9')])
      await off('several@%')
      await expect.poll(() => areOpen(open)).toEqual([false, false, false])
      await expect.poll(() => again?.isOpen()).toBe(false)
      for (const one of [...open, again]) await one?.end()
    })

    test('are ended also if a narrower account got the name afterwards', async () => {
      await accounts('early', ['%', '10.0.0.9'])
      const open = await session('early', '127.0.0.9')
      await its.admin.query("rename user early@'10.0.0.9' to early@'127.0.0.9'")
      expect(open.took).toBe('early@%')
      await off('early@%')
      await expect.poll(open.isOpen).toBe(false)
      await open.end()
    })

    /** Another user for the connector, with all privileges except the one to see sessions. */
    async function connector(user: string): Promise<Given> {
      await its.admin.query(`create user ${user}@'127.%' identified by 'password-1';
        grant create user, connection admin, reload on *.* to ${user}@'127.%';
        grant all privileges on mysql.* to ${user}@'127.%'`)
      return { as: [user, 'password-1'] }
    }

    test.each(['a role', 'PUBLIC'])(
      'are visible with a privilege granted through %s',
      async (way) => {
        const name = way === 'PUBLIC' ? 'by_public' : 'by_role'
        const as = await connector(name)
        const to = way === 'PUBLIC' ? 'public' : 'sees_all'
        if (way !== 'PUBLIC')
          await its.admin.query(`create role sees_all; grant sees_all to ${name}@'127.%';
          set default role sees_all for ${name}@'127.%'`)
        await its.admin.query(`grant process on *.* to ${to}`)
        await accounts(`seen ${name}`, ['127.%'])
        const open = await session(`seen ${name}`, '127.0.0.9')
        await its.done('deactivate_account', { account_id: `seen ${name}@127.%` }, as)
        await expect.poll(open.isOpen).toBe(false)
        await open.end()
        await its.admin.query(`revoke process on *.* from ${to}`)
      },
    )

    test("of the connector's own user name are not ended if it cannot see them", async () => {
      const as = await connector('blind')
      await accounts('blind', ['%'])
      const open = await session('blind', '127.0.0.9')
      expect(open.took).toBe('blind@127.%')
      await its.done('deactivate_account', { account_id: 'blind@%' }, as)
      expect(await open.isOpen()).toBe(true)
      await open.end()
    })

    test.each(['system user', 'Unauthenticated User'])(
      'are not confused with server threads: an account named %s is refused',
      async (username) => {
        const request = { username, password: 'password-1', entitlements: [] }
        expect(await its.refused('create_account', request)).toMatchObject({
          error_code: 'invalid_value',
        })
      },
    )

    test("of a name in another case, and the connector's own, are not ended", async () => {
      await accounts('Another', ['%'])
      await accounts('another', ['%'])
      await its.admin.query("create user connector@'127.%' identified by 'password-1'")
      const open = await session('Another', '127.0.0.9')
      await off('another@%')
      expect(await open.isOpen()).toBe(true)
      const own = await session('connector', '127.0.0.9')
      await off('connector@127.%')
      await expect.poll(own.isOpen).toBe(false)
      expect(await its.done('validate_credentials')).toMatchObject({ valid: true })
      for (const one of [open, own]) await one.end()
      await its.admin.query("drop user connector@'127.%'")
    })
  },
)
