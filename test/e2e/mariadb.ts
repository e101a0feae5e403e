/** Runs the MariaDB connector in a host with a real server, for tests of its behaviour. */
import { connect } from 'node:net'
import mysql from 'mysql2/promise'
import { type MariadbServer, startMariadb } from '../egress/sql/mariadb.ts'
import { connectorClient } from './connector-client.ts'
import { startHost, type TestHost } from './host.ts'

export type Account = { integration_specific_id: string; username: string; user_status: string }
export type Association = {
  account_id: string
  integration_specific_entitlement_id: string
  integration_specific_resource_id: string
}
export type Given = { settings?: object; as?: [user: string, password: string] }
export const EFFECTIVE: Given = { settings: { associations: 'effective' } }

export const role = (account: string, id: string) => ({
  account_integration_specific_id: account,
  resource_integration_specific_id: '',
  resource_type: '',
  entitlement_type: 'ROLE',
  entitlement_integration_specific_id: id,
})

export const right = (account: string, id: string, database: string) => ({
  account_integration_specific_id: account,
  resource_integration_specific_id: database,
  resource_type: 'DATABASE',
  entitlement_type: 'PRIVILEGE',
  entitlement_integration_specific_id: id,
})

/** An entitlement of a new account. */
export const entitled = (id: string, database = '') => ({
  integration_specific_id: id,
  integration_specific_resource_id: database,
  entitlement_type: database === '' ? 'ROLE' : 'PRIVILEGE',
})

export const short = (one: Association) =>
  `${one.integration_specific_entitlement_id} ${one.integration_specific_resource_id}`.trim()

/**
 * Starts the host and the server, with all privileges that the connector's page requires. `stop` ends both.
 */
export async function startMariadbHost() {
  const server: MariadbServer = await startMariadb()
  const env = { KEYWAY_PRIVATE_EGRESS: `mariadb=127.0.0.1:${server.port}` }
  const host: TestHost = await startHost({ env })
  const clientOf = (
    user: string,
    password: string,
    database = 'information_schema',
    localAddress = '127.0.0.1',
  ) =>
    mysql.createConnection({
      stream: () => connect({ host: server.host, port: server.port, localAddress }),
      user,
      password,
      database,
      multipleStatements: true,
    })
  const admin = await clientOf('admin', 'admin-secret-1')
  await admin.query("grant connection admin, process, show databases on *.* to connector@'%'")
  const envelope = (request: object = {}, { settings, as }: Given = {}) => {
    const [username, password] = as ?? [server.auth.username, server.auth.password]
    const url = `mariadb://127.0.0.1:${server.port}`
    return { auth: { basic: { username, password } }, settings: { url, ...settings }, request }
  }
  const asked = connectorClient(() => host, 'mariadb', envelope)
  return {
    ...asked,
    host,
    admin,
    clientOf,
    /** Rows of a query by the administrator. */
    rows: async (text: string, values: unknown[] = []) =>
      (await admin.query<mysql.RowDataPacket[]>(text, values))[0],
    heldBy: async (account_id: string, given?: Given, size?: number) =>
      (
        await host.pages<Association>(
          'mariadb',
          'get_account_entitlement_associations',
          envelope({ account_id }, given),
          size,
        )
      )
        .flat()
        .map(short)
        .sort(),
    async stop() {
      await admin.end()
      await host.stop()
      await server.stop()
    },
  }
}

export type MariadbHost = Awaited<ReturnType<typeof startMariadbHost>>
