/** Opens one connection to a MySQL or MariaDB server: judged, address pinned, encrypted, logged in. */
import type { Socket } from 'node:net'
import type { Connection } from 'mysql2'
import { SQL_LIMITS } from '../../contract/connector/sql.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { readAnswer, upgrade } from '../dial/upgrade.ts'
import type { SqlTarget } from '../rules/sql-rules.ts'
import { createGuard, type Guard, GuardedSocket, OUTSIDE_CALLS } from '../wire/guard.ts'
import { hostAndPort, openWire, type PlainDeps } from '../wire/open.ts'
import type { ConnectDeps, SqlLogin } from './connect.ts'
import { failureOf, sqlServerError } from './failures.ts'
import { encryptionRequest, type Greeting, readGreeting, sizeOf } from './mysql-greeting.ts'
import { loadMysql } from './mysql-library.ts'
import { createShape, type Shape } from './mysql-reply-shape.ts'

/** Connection that is ready for statements. */
export type MysqlConnection = {
  client: Connection
  guard: Guard
  isMariadb: boolean
}

/** Maximum number of statements that a connection keeps prepared. */
const MAX_PREPARED = 100

/**
 * Socket that the library uses. Sent commands are noted, so that only their replies are accepted. The packet
 * numbers of a login are shifted by the request for encryption, which the library did not send.
 */
class LibrarySocket extends GuardedSocket {
  readonly #raw: Socket
  readonly #shape: Shape
  readonly #before: number

  constructor(socket: Socket, shape: Shape, before: number) {
    super(socket)
    this.#raw = socket
    this.#shape = shape
    this.#before = before
  }
  override write(bytes: Buffer, done?: () => void): boolean {
    if (!this.#shape.isLoggedIn()) bytes.writeUInt8(((bytes[3] ?? 0) + this.#before) & 255, 3)
    this.#shape.sent(bytes)
    return super.write(bytes, done)
  }
  pause(): void {
    this.isHeld = true
    this.#raw.pause()
  }
  resume(): void {
    this.isHeld = false
    this.#raw.resume()
  }
}

/** Values that JavaScript cannot represent are returned as texts. The library runs no generated code. */
const READING = {
  supportBigNumbers: true,
  bigNumberStrings: true,
  dateStrings: true,
  jsonStrings: true,
  disableEval: true,
  timezone: 'Z',
} as const

/** Capabilities that the library would offer to the server, disabled here. */
const UNSPOKEN = [
  ...['LOCAL_FILES', 'ODBC', 'IGNORE_SPACE', 'SESSION_TRACK', 'CONNECT_ATTRS', 'MULTI_RESULTS'],
  'CLIENT_QUERY_ATTRIBUTES',
]

/**
 * Connects. The connection is encrypted before the login is sent, unless the operator grants plain text. The
 * name in the certificate is checked against the host of the manifest.
 *
 * @throws egress_private, upstream_rejected, upstream_connect_timeout, upstream_closed, upstream_garbled, and
 * database_refused if the login fails
 */
export function connectMysql(
  target: SqlTarget,
  { username, password }: SqlLogin,
  deps: ConnectDeps,
): Promise<MysqlConnection> {
  const from = hostAndPort(target)
  return openWire(target, deps, async (raw, use) => {
    const { greeting, current } = await secured(raw, target, deps)
    use(current)
    const isEncrypted = current !== raw
    const before = isEncrypted ? 1 : 0
    const shape = createShape()
    const inner = new LibrarySocket(current, shape, before)
    const guard = createGuard(
      current,
      from,
      {
        protocol: 'MySQL',
        sizeOf,
        judge(bytes, at, stop) {
          const packet = bytes.subarray(at, stop)
          const isLogin = !shape.isLoggedIn()
          const judged = shape.judge(packet)
          if (isLogin) packet.writeUInt8(((packet[3] ?? 0) - before) & 255, 3)
          return judged
        },
        onRenew() {},
        maxReplyBytes: SQL_LIMITS.maxReplyBytes,
        maxReplyValues: SQL_LIMITS.maxReplyValues,
        advice: 'read it in pages, or fewer columns',
      },
      inner,
    )
    // Load before the socket is resumed, so that only the client reads the data that follows.
    const mysql = await loadMysql()
    const done = guard.allow(OUTSIDE_CALLS)
    // Paused since the greeting was read.
    current.resume()
    const client = mysql.createConnection({
      ...READING,
      host: 'database.invalid',
      user: username,
      password,
      database: target.database,
      charset: 'utf8mb4_general_ci',
      maxPreparedStatements: MAX_PREPARED,
      flags: [...UNSPOKEN.map((name) => `-${name}`), ...(isEncrypted ? ['SSL'] : [])],
      // On an encrypted connection, the password itself may be sent if the server has no shorter way.
      authPlugins: {
        caching_sha2_password: mysql.authPlugins.caching_sha2_password({
          overrideIsSecure: isEncrypted,
        }),
      },
      connectTimeout: deps.timeoutMs,
      stream: inner,
    })
    // Errors are reported by the pending request. Without a listener they would end the process.
    client.on('error', () => {})
    try {
      await new Promise<void>((resolve, reject) => {
        client.once('connect', () => resolve())
        client.once('error', reject)
        inner.once('close', () => reject(new Error('closed during the login')))
        inner.emit('data', greeting.masked)
      })
    } catch (error) {
      const failure = withoutPassword(failureOf(error, guard, from), from)
      guard.end()
      throw failure
    } finally {
      done()
    }
    return { client, guard, isMariadb: greeting.isMariadb }
  })
}

/**
 * Rewords error 1698 of a login: the user signs in without a password. Outside a login, the number means a
 * role that the caller may not grant.
 */
function withoutPassword(failure: RuntimeError, from: string): RuntimeError {
  if (failure.details.appErrorCode !== '1698') return failure
  return new RuntimeError(
    'database_refused',
    `${from} answered 1698: the user signs in without a password (unix_socket or another plugin). Give the app a user that signs in by a password`,
    { wire: 'unauthenticated', appErrorCode: '1698' },
  )
}

async function secured(
  raw: Socket,
  target: SqlTarget,
  { mayBePlain, connectorId }: PlainDeps,
): Promise<{ greeting: Greeting; current: Socket }> {
  const from = hostAndPort(target)
  const first = await readAnswer(raw, from, {
    asked: 'the connection',
    protocol: 'MySQL',
    sizeOf,
  })
  const greeting = readGreeting(first, from)
  if ('errno' in greeting) throw sqlServerError(String(greeting.errno), greeting.message, from)
  if (mayBePlain(from)) return { greeting, current: raw }
  if (!greeting.offersEncryption)
    throw new RuntimeError(
      'upstream_rejected',
      `${from} was not reached: it offers no encryption. Switch it on there (ssl_cert and ssl_key), or the operator grants plain text: KEYWAY_PLAIN_SQL=${connectorId}=${from}`,
    )
  raw.write(encryptionRequest())
  return { greeting, current: await upgrade(raw, target.host, from) }
}
