/** Opens one connection to a PostgreSQL server: judged, address pinned, encrypted, logged in. */
import type { Socket } from 'node:net'
import pg from 'pg'
import { SQL_LIMITS } from '../../contract/connector/sql.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { readAnswer, upgrade } from '../dial/upgrade.ts'
import type { SqlTarget } from '../rules/sql-rules.ts'
import { createGuard, type Guard, GuardedSocket, OUTSIDE_CALLS } from '../wire/guard.ts'
import { hostAndPort, openWire, type PlainDeps, type WireOpenDeps } from '../wire/open.ts'
import { loginFailureOf } from './failures.ts'
import { judgeMessage, sizeOf } from './reply-shape.ts'

/** Credentials of a login. */
export type SqlLogin = { username: string; password: string }

export type ConnectDeps = WireOpenDeps & PlainDeps

/** Connection that is ready for statements. */
export type PostgresConnection = {
  client: pg.Client
  guard: Guard
  /** Returns `I` outside a transaction, `T` in one, `E` in a failed one. */
  state(): string
  /**
   * Returns the key that cancels the running statement from another connection, or null if the server sent
   * none.
   */
  cancelKey(): Buffer | null
}

/** Socket that the library uses: the parts of one that it would open itself. */
class LibrarySocket extends GuardedSocket {
  connect(): void {
    setImmediate(() => this.emit('connect'))
  }
  setNoDelay(): void {}
  setKeepAlive(): void {}
  ref(): void {}
  unref(): void {}
}

/**
 * Connects. The connection is encrypted before anything else is sent, unless the operator grants plain text.
 * The name in the certificate is checked against the host of the manifest.
 *
 * @throws egress_private, upstream_rejected, upstream_connect_timeout, upstream_closed, upstream_garbled, and
 * database_refused if the login fails
 */
export function connect(
  target: SqlTarget,
  { username, password }: SqlLogin,
  deps: ConnectDeps,
): Promise<PostgresConnection> {
  const from = hostAndPort(target)
  return openWire(target, deps, async (raw, use) => {
    const current = await secured(raw, target, deps)
    use(current)
    let state = 'I'
    let key: Buffer | null = null
    const guard = createGuard(
      current,
      from,
      {
        protocol: 'PostgreSQL',
        sizeOf,
        judge(bytes, at, stop) {
          const message = bytes.subarray(at, stop)
          const judged = judgeMessage(message)
          if (judged !== null && message[0] === READY) state = message.toString('latin1', 5)
          if (judged !== null && message[0] === KEY) key = Buffer.from(message.subarray(5))
          return judged
        },
        onRenew() {},
        maxReplyBytes: SQL_LIMITS.maxReplyBytes,
        maxReplyValues: SQL_LIMITS.maxReplyValues,
        advice: 'read it in pages, or fewer columns',
      },
      new LibrarySocket(current),
    )
    const client = new pg.Client({
      host: 'database.invalid',
      port: target.port,
      user: username,
      password,
      database: target.database,
      ssl: false,
      // The cast: the type requires a complete socket, but the library uses only `LibrarySocket`'s members
      // (pg 8, `Connection`).
      stream: (() => guard.socket) as unknown as () => Socket,
    })
    // The host's environment variables, such as PGOPTIONS, must not affect a connector's connection.
    Object.assign(client, {
      getStartupConf: () => ({
        user: username,
        database: target.database,
        application_name: 'keyway',
      }),
    })
    // Errors are reported by the pending request. Without a listener they would end the process.
    client.on('error', () => {})
    const done = guard.allow(OUTSIDE_CALLS)
    try {
      await client.connect()
    } catch (error) {
      const failure = loginFailureOf(error, guard, from)
      guard.end()
      throw failure
    } finally {
      done()
    }
    return { client, guard, state: () => state, cancelKey: () => key }
  })
}

const READY = 'Z'.charCodeAt(0)
const KEY = 'K'.charCodeAt(0)

/**
 * Cancels the statement that runs on another connection to the same server. A failure is harmless: the server
 * ends the statement by its own timeout.
 */
export async function cancel(target: SqlTarget, key: Buffer, deps: ConnectDeps): Promise<void> {
  await openWire(target, deps, async (raw) => {
    const current = await secured(raw, target, deps)
    await new Promise<void>((resolve) => current.end(Buffer.concat([CANCEL, key]), () => resolve()))
    // The server closes the connection when it has read the request.
    current.on('data', () => {})
    current.setTimeout(deps.timeoutMs, () => current.destroy())
  })
}

/** SSLRequest and CancelRequest, up to their parameters. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])
const CANCEL = Buffer.from([0, 0, 0, 16, 0x04, 0xd2, 0x16, 0x2e])

async function secured(
  raw: Socket,
  target: SqlTarget,
  { mayBePlain, connectorId }: PlainDeps,
): Promise<Socket> {
  const from = hostAndPort(target)
  if (mayBePlain(from)) return raw
  raw.write(SSL_REQUEST)
  const answer = await readAnswer(raw, from, {
    asked: 'the request for encryption',
    protocol: 'PostgreSQL',
    sizeOf: (held) => (/^[SN]/.test(held.toString('latin1', 0, 1)) ? 1 : null),
  })
  if (answer.toString('latin1') === 'S') return upgrade(raw, target.host, from)
  throw new RuntimeError(
    'upstream_rejected',
    `${from} was not reached: it offers no encryption. Switch it on there (ssl = on), or the operator grants plain text: KEYWAY_PLAIN_SQL=${connectorId}=${from}`,
  )
}
