/** Connections of one host process to databases. */
import type { CallSecrets } from '../../contract/connector/secrets.ts'
import { SQL_LIMITS, type SqlDialect, type SqlRequest } from '../../contract/connector/sql.ts'
import type { SqlPage } from '../../contract/connector/sql-context.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { SqlTarget } from '../rules/sql-rules.ts'
import { loginOf as heldBy } from '../wire/login.ts'
import {
  createWireClient,
  type Performed,
  type WireClient,
  type WireClientOptions,
  type WireProtocol,
} from '../wire/wire-client.ts'
import { cancel, connect, type PostgresConnection, type SqlLogin } from './connect.ts'
import { parkedIdOf } from './cursor.ts'
import { failureOf } from './failures.ts'
import { connectMysql, type MysqlConnection } from './mysql-connect.ts'
import { killMysql, mendMysql, performMysql, resetMysql } from './mysql-perform.ts'
import { perform, rollBack } from './perform.ts'

/** Judged request, and its login. */
type SqlOperation = { request: SqlRequest; target: SqlTarget; login: SqlLogin }

export type DatabaseClient = WireClient<SqlOperation>

const performed = (done: SqlPage | { touched: number[] }): Performed => ({
  body: Buffer.from(JSON.stringify(done)),
  items: 'rows' in done ? done.rows.length : 0,
})

/** Parts that are the same for every database. */
const COMMON = {
  peer: { one: 'database', many: 'databases' },
  placeOf: ({ target }: SqlOperation) => target,
  keyOf: ({ target, login }: SqlOperation) => [target.database, login.username],
  parkedIdOf: ({ request }: SqlOperation) => parkedIdOf(request),
  // A next page can only be read on its own connection.
  mayRepeat: ({ request }: SqlOperation) => request.operation === 'query' && !request.page?.cursor,
  failureOf,
  isServerError: ({ code }: RuntimeError) => code === 'database_refused',
}

const POSTGRESQL: WireProtocol<SqlOperation, PostgresConnection> = {
  ...COMMON,
  open: ({ target, login }, deps) => connect(target, login, deps),
  perform: async (operation, lease, leftMs) => performed(await perform(operation, lease, leftMs)),
  // One additional row: the one that sets the formats before the query.
  maxItemsOf: ({ request }) =>
    1 +
    (request.operation === 'query' && request.page ? request.page.size : SQL_LIMITS.maxRows + 1),
  mend: rollBack,
  async stop({ target }, connection, deps) {
    const key = connection.cancelKey()
    if (key !== null) await cancel(target, key, deps)
  },
}

const MYSQL: WireProtocol<SqlOperation, MysqlConnection> = {
  ...COMMON,
  open: ({ target, login }, deps) => connectMysql(target, login, deps),
  perform: async (operation, lease, leftMs) =>
    performed(await performMysql(operation, lease, leftMs)),
  // The server sends without waiting: rows that arrive with the last ones of a page count as well.
  maxItemsOf: () => 2 * SQL_LIMITS.maxRows,
  canLeaveParked: false,
  mend: mendMysql,
  reset: resetMysql,
  async stop({ target, login }, { client }, deps) {
    const other = await connectMysql(target, login, deps)
    const done = other.guard.allow({ onBytes: () => {}, read: () => 0, maxItems: 0 })
    try {
      await killMysql(other, client.threadId)
    } finally {
      done()
      other.guard.end()
    }
  },
}

/** Creates the client of databases of one host process. */
export function createDatabaseClient(options: WireClientOptions): DatabaseClient {
  const rooms: Readonly<Record<SqlDialect, DatabaseClient>> = {
    postgresql: createWireClient(POSTGRESQL, options),
    mysql: createWireClient(MYSQL, options),
  }
  const all = Object.values(rooms)
  return {
    perform: (operation, deps) => rooms[operation.target.dialect].perform(operation, deps),
    connections: () => all.reduce((sum, client) => sum + client.connections(), 0),
    close() {
      for (const client of all) client.close()
    },
  }
}

/** Code that each system sends for a wrong password. */
const WRONG_LOGIN: Readonly<Record<SqlDialect, string>> = { postgresql: '28P01', mysql: '1045' }

/**
 * Returns the login that the egress entry declares.
 *
 * @throws egress_secret if the call does not have the credential, or it may not be sent there
 */
export function loginOf(
  { credential, secrets, field, dialect }: SqlTarget,
  held: CallSecrets | null,
): SqlLogin {
  const login = heldBy(credential, { secrets, field, verb: 'logs in' }, held)
  // Without a password, the library would look for one of the host's own.
  if (login.username !== '' && login.password !== '') return login
  throw new RuntimeError('database_refused', 'The user name or the password is empty', {
    wire: 'unauthenticated',
    appErrorCode: WRONG_LOGIN[dialect],
  })
}
