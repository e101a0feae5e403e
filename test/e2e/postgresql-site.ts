/** Runs a PostgreSQL server with a host in front of it, and the calls that tests of the connector use. */
import pg from 'pg'
import { type Database, startDatabase } from '../egress/sql/database.ts'
import { connectorClient } from './connector-client.ts'
import { startHost } from './host.ts'

export type Given = { settings?: object; as?: [user: string, password: string] }
export type Association = { account_id: string; integration_specific_entitlement_id: string }

/** In Debian's version CREATEROLE covers every role; from 16 on only roles that it was granted. */
export const VERSIONS = ['debian', 'embedded'] as const

/** A started site; `admin` is a superuser's session on the server. */
export type PostgresqlSite = Awaited<ReturnType<typeof startPostgresqlSite>>

export async function startPostgresqlSite(version: (typeof VERSIONS)[number]) {
  const database: Database = await startDatabase({ VERSION: version })
  const host = await startHost({
    env: { KEYWAY_PRIVATE_EGRESS: `postgresql=127.0.0.1:${database.port}` },
  })
  const admin = clientOf('admin', 'admin-secret')
  await admin.connect()
  await admin.query('grant pg_signal_backend, pg_read_all_stats to connector')

  function clientOf(user: string, password: string) {
    const { host: at, port } = database
    return new pg.Client({ host: at, port, database: 'corp', user, password, ssl: false })
  }
  const envelope = (request: object = {}, { settings, as }: Given = {}) => {
    const { username, password } = database.auth
    const [user, secret] = as ?? [username, password]
    const url = `postgresql://127.0.0.1:${database.port}`
    return {
      auth: { basic: { username: user, password: secret } },
      settings: { url, database: 'corp', ...settings },
      request,
    }
  }
  const { call, done, refused, together } = connectorClient<Given>(
    () => host,
    'postgresql',
    envelope,
  )
  const pagesOf = <T>(capability: string, size?: number, given?: Given) =>
    host.pages<T>('postgresql', capability, envelope({}, given), size)
  const grant = (account: string, role: string) => ({
    account_integration_specific_id: account,
    resource_integration_specific_id: '',
    resource_type: '',
    entitlement_type: 'ROLE',
    entitlement_integration_specific_id: role,
  })
  const create = async (username: string, more: object = {}) =>
    (await done<{ id: string }>('create_account', { username, entitlements: [], ...more })).id
  const heldBy = async (account_id: string, given?: Given) =>
    (await done<Association[]>('get_account_entitlement_associations', { account_id }, given))
      .map((one) => one.integration_specific_entitlement_id)
      .sort()
  /** Checks at the server itself why an account cannot read with a password; null if it can. */
  const keptOut = async (user: string, password: string): Promise<string | null> => {
    const client = clientOf(user, password)
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query('select note from sales.orders')
      return null
    } catch (error) {
      return String(Object(error).code)
    } finally {
      await client.end().catch(() => {})
    }
  }

  return {
    ...{
      database,
      host,
      admin,
      clientOf,
      call,
      done,
      refused,
      together,
      pagesOf,
      grant,
      create,
      heldBy,
      keptOut,
    },
    async stop() {
      await admin.end()
      await host.stop()
      await database.stop()
    },
  }
}
