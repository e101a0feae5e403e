/**
 * Opens the connection to PostgreSQL, embedded or the operator's own. A lost connection is an ordinary event:
 * statements fail in the meantime, and the next one reconnects.
 */
import { Client, type ClientConfig, Pool, type PoolClient, type PoolConfig } from 'pg'
import { errorOf } from '../contract/errors/thrown.ts'
import { prepareAppRole } from './app-role.ts'
import { CONNECTIONS_PER_HOST } from './connections.ts'
import { retryOnContention } from './contention.ts'
import type { Beginning, Database, Db } from './database.ts'
import { watchAnswers } from './database-watch.ts'
import { isDiskFull } from './full-disk.ts'
import { openGradually } from './gradual-pool.ts'
import { createListening } from './listen.ts'
import { migrate } from './migrate.ts'
import { refuseSharing, sessionSettings } from './session.ts'
import { createSharedClock } from './shared-clock.ts'
import { databaseOn } from './table-rows.ts'
import { transact } from './transactions.ts'
import { isDatabaseUnavailable } from './unavailable.ts'
import { abandonSession, connectionBelow } from './wire.ts'

/** How long a statement waits for a connection, and a connection for its server, in milliseconds. */
const CONNECT_MS = 5000
/**
 * Maximum wait for any statement while the server answers others, in milliseconds: longer than an import may
 * take.
 */
const SILENCE_MS = 660_000
/** Reported once if only triggers keep the log append-only. */
const TRIGGERS_ALONE =
  'the role of DATABASE_URL may not make roles: only triggers keep the log from being changed; for more, an administrator can run `create role keyway_app nologin; grant keyway_app to <that role>`'

/**
 * Connects and brings the schema up to date. Later statements run as a role with fewer rights. `tell`
 * receives what an operator should know of the server. `onFull` is called for each write refused because the
 * disk is full.
 */
export async function openDatabase(
  connection: ClientConfig,
  onError: (error: Error) => void,
  tell: (text: string) => void = () => {},
  onFull: () => void = () => {},
): Promise<Database> {
  const client = new Client({ ...connection, connectionTimeoutMillis: CONNECT_MS })
  client.on('error', onError)
  await client.connect()
  let domainId: string
  const clock = createSharedClock()
  let role: PoolConfig | null
  let settings: string
  try {
    await refuseSharing(client, connection)
    settings = await sessionSettings(client)
    await migrate(client, tell)
    role = await prepareAppRole(client, connection)
    const { rows } = await client.query(
      `select id, extract(epoch from clock_timestamp()) * 1000 as now_ms
       from domains order by created_at, id limit 1`,
    )
    domainId = rows[0].id
    clock.told(Number(rows[0].now_ms))
  } finally {
    await client.end()
  }
  if (!role) tell(TRIGGERS_ALONE)
  const pool = new Pool({
    ...connection,
    ...role,
    max: CONNECTIONS_PER_HOST.pool,
    connectionTimeoutMillis: CONNECT_MS,
    // No statement waits forever.
    query_timeout: SILENCE_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: CONNECT_MS,
    async onConnect(session) {
      await session.query(settings)
      await role?.onConnect?.(session)
    },
    application_name: 'keyway',
  })
  openGradually(pool)
  const sessions = new Set<PoolClient>()
  // An idle connection was lost. The pool makes another one on demand. pg puts the whole connection into the
  // error, including the key that ends its session.
  let closing = false
  pool.on('error', (error: Error & { client?: unknown }) => {
    delete error.client
    // A server that is about to stop may end connections that are being closed.
    if (!closing) onError(error)
  })
  pool.on('connect', (client) => {
    // A connection may be lost in the middle of a transaction. The next statement on it fails. Without a
    // listener the loss would end the host.
    client.on('error', () => {})
    sessions.add(client)
    // Even if the caller ignores it.
    connectionBelow(client).on('errorMessage', (fault) => {
      if (isDiskFull(fault)) onFull()
    })
  })
  pool.on('remove', (client) => void sessions.delete(client))
  const own: ClientConfig = { ...connection, ...role }
  const listening = createListening(own)
  const answers = watchAnswers(own, clock, () => {
    listening.drop()
    for (const session of sessions) abandonSession(session)
  })
  return {
    db: withTransactions(pool),
    domainId,
    waitingFor: answers.words,
    connections: () => ({
      busy: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    now: clock.now,
    listen: listening.on,
    async close() {
      closing = true
      await answers.stop()
      await pool.end()
    },
  }
}

/**
 * Makes transactions begin by `transact`. Their connection is always released, and closed if the server was
 * lost. A transaction aborted by contention is retried, so it must have no effects outside of the database
 * (else pass NO_RETRY).
 */
function withTransactions(pool: Pool): Db {
  const db = databaseOn(pool)
  const once: Db['transaction'] = async (work, config) => {
    const client = await pool.connect()
    let fault: Error | undefined
    try {
      return await transact(client, work, config ?? {}, (error) => {
        fault = error
      })
    } catch (error) {
      if (isDatabaseUnavailable(error)) fault = errorOf(error)
      throw error
    } finally {
      client.release(fault)
    }
  }
  db.transaction = (work, config: Beginning = {}) =>
    config.once ? once(work, config) : retryOnContention(() => once(work, config))
  return db
}
