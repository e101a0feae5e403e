/** Grants to users of a real MariaDB without its password plugin, which would refuse some of them. */
import mysql from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { errorOf, openedEgresses } from '../fixtures/open-egress.ts'
import { sql } from './database.ts'
import { type MariadbServer, mariadbEgress, noMariadb, startMariadb } from './mariadb.ts'

const STATEMENTS = {
  grant_select: { text: 'grant select on sales.* to {identifier:user}@{identifier:host}' },
  grant_role: { text: 'grant role_reader to {identifier:user}@{identifier:host}' },
}

describe.skipIf(noMariadb !== null)(`users of MariaDB${noMariadb ? `: ${noMariadb}` : ''}`, () => {
  let server: MariadbServer
  let admin: mysql.Connection

  beforeAll(async () => {
    server = await startMariadb()
    const { host, port } = server
    const login = { host, port, user: 'admin', password: 'admin-secret-1' }
    admin = await mysql.createConnection(login)
    await admin.query("uninstall soname 'simple_password_check'")
  })
  afterEach(async () => {
    for (const client of openedEgresses.splice(0)) await client.close()
  })
  afterAll(async () => {
    await admin?.end()
    await server?.stop()
  })

  const execute = (statement: string, names: object) =>
    mariadbEgress(server, { statements: STATEMENTS }).fetch(
      sql('EXECUTE', { statement, names, parameters: [] }),
    )
  const users = async (name: string) =>
    (
      await admin.query<mysql.RowDataPacket[]>(
        'select User, Host from mysql.global_priv where User = ?',
        [name],
      )
    )[0]

  test.each(['grant_select', 'grant_role'])(
    'a grant to an unknown name creates no user: %s',
    async (statement) => {
      const error = await errorOf(execute(statement, { user: 'nobody', host: '%' }))
      expect(error.details).toMatchObject({ wire: 'not_found', appErrorCode: '1133' })
      expect(await users('nobody')).toEqual([])
    },
  )
})
