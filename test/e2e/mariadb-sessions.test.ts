/** Which connections the MariaDB connector ends, against a real server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noMariadb } from '../egress/sql/mariadb.ts'
import { type MariadbHost, right, startMariadbHost } from './mariadb.ts'

describe.skipIf(noMariadb !== null)(
  `connections of MariaDB${noMariadb ? ` (${noMariadb})` : ''}`,
  () => {
    let its: MariadbHost

    beforeAll(async () => {
      its = await startMariadbHost()
    }, 180_000)
    afterAll(() => its?.stop())

    /** Accounts of one name, which were there when the server started, or came after it. */
    async function accounts(user: string, hosts: readonly string[], areOld = true) {
      for (const host of hosts)
        await its.admin.query(`create user '${user}'@'${host}' identified by 'password-1'`)
      if (areOld)
        await its.admin.query(
          "update mysql.global_priv set Priv = json_set(Priv, '$.password_last_changed', 1) where User = ?",
          [user],
        )
    }

    /** A connection from an address; `took` is the account that the server took for it. */
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
      ['a pattern with one open place', '127.0.0._', '127.0.0.9'],
      ['a network', '127.0.0.0/255.255.255.0', '127.0.0.9'],
      ['one address', '127.0.0.9', '127.0.0.9'],
    ])('ends those of an account of %s', async (_what, host, from) => {
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

    test('leaves those of a narrower account of the name, which the server took', async () => {
      await accounts('several', ['%', '127.0.0.%', '127.0.0.9'])
      const open = await Promise.all(
        ['127.1.0.1', '127.0.0.1', '127.0.0.9'].map((from) => session('several', from)),
      )
      expect(open.map((one) => one.took)).toEqual([
        'several@%',
        'several@127.0.0.%',
        'several@127.0.0.9',
      ])
      const account_ids = ['several@%', 'several@127.0.0.%', 'several@127.0.0.9']
      const active = async () =>
        (await its.done<{ account_id: string }[]>('get_last_activity', { account_ids }))
          .map((one) => one.account_id)
          .sort()
      expect(await active()).toEqual(account_ids)
      await open[0]?.end()
      await expect.poll(active).toEqual(account_ids.slice(1))
      open[0] = await session('several', '127.1.0.1')
      const areOpen = () => Promise.all(open.map((one) => one.isOpen()))
      await off('several@%')
      await expect.poll(areOpen).toEqual([false, true, true])
      await off('several@127.0.0.%')
      await expect.poll(areOpen).toEqual([false, false, true])
      await off('several@127.0.0.9')
      await expect.poll(areOpen).toEqual([false, false, false])
      for (const one of open) await one.end()
    })

    test('leaves none that an account may have taken before a narrower one was made', async () => {
      await accounts('early', ['%'])
      const open = await session('early', '127.0.0.9')
      await accounts('early', ['127.0.0.9'], false)
      expect(open.took).toBe('early@%')
      await off('early@%')
      await expect.poll(open.isOpen).toBe(false)
      await open.end()
    })

    test('leaves those of another name, and its own', async () => {
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
