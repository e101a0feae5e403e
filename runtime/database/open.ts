/**
 * Opens the connection to PostgreSQL, embedded or the operator's own. Losing it is nothing special: what asks
 * meanwhile is told so, and the next question finds it again.
 */
import { Client, type ClientConfig, Pool, type PoolClient, type PoolConfig } from 'pg'
import { errorOf } from '../contract/errors/thrown.ts'
import { watchAnswers } from './answers.ts'
import { prepareAppRole } from './app-role.ts'
import { isAway } from './away.ts'
import { CONNECTIONS_OF_A_HOST } from './connections.ts'
import { whenContendedAgain } from './contention.ts'
import type { Beginning, Database, Db } from './database.ts'
import { isDiskFull } from './full-disk.ts'
import { openGradually } from './gradual.ts'
import { createListening } from './listen.ts'
import { migrate } from './migrate.ts'
import { refuseSharing, sessionSettings } from './session.ts'
import { createSharedClock } from './shared-clock.ts'
import { databaseOn } from './table-rows.ts'
import { transact } from './transactions.ts'
import { abandonSession, connectionBelow } from './wire.ts'

/** How long a question waits for a connection, and a connection for its server, in milliseconds. */
const CONNECT_MS = 5000
/** Longest that any question is waited for while the server answers others: more than an import's may take, in milliseconds. */
const SILENCE_MS = 660_000
/** What is said once where the log is append-only by its triggers alone. */
const TRIGGERS_ALONE =
  'the role of DATABASE_URL may not make roles: only triggers keep the log from being changed; for more, an administrator can run `create role keyway_app nologin; grant keyway_app to <that role>`'

/**
 * Connects and brings the schema up to date; `tell` hears what an operator should know of the server,
 * `onFull` each refusal for want of room on its disk. What is asked afterwards is asked as a role with fewer
 * rights.
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
    max: CONNECTIONS_OF_A_HOST.pool,
    connectionTimeoutMillis: CONNECT_MS,
    // Nobody waits for ever.
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
  // An idle connection that is lost; the pool makes another when one is asked for. It puts the whole connection into the
  // error, the key that ends its session among it.
  let closing = false
  pool.on('error', (error: Error & { client?: unknown }) => {
    delete error.client
    // A server that is stopped next may end what is being closed.
    if (!closing) onError(error)
  })
  pool.on('connect', (client) => {
    // One that is lost in the middle of a transaction: what is asked next is told so. Without a listener
    // the loss would end the host.
    client.on('error', () => {})
    sessions.add(client)
    // Also if the caller ignores it.
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
 * Has transactions begun by `transact`. Their connection is always given back, and closed where the server was lost. A
 * transaction aborted by contention is retried, so it must have no effects outside the database (else pass ONCE).
 */
function withTransactions(pool: Pool): Db {
  const db = databaseOn(pool)
  const once: Db['transaction'] = async (work, config) => {
    const client = await pool.connect()
    let fault: Error | undefined
    try {
      return await transact(client, work, config)
    } catch (error) {
      if (isAway(error)) fault = errorOf(error)
      throw error
    } finally {
      client.release(fault)
    }
  }
  db.transaction = (work, config: Beginning = {}) =>
    config.once ? once(work, config) : whenContendedAgain(() => once(work, config))
  return db
}
