/** Settings of every session of the pool, and a check that sessions are real: some poolers break them. */
import { Client, type ClientBase, type ClientConfig } from 'pg'

/** Maximum duration of a single statement of the interface, in milliseconds. */
const STATEMENT_MS = 30_000
/** Maximum time in which a pooler provides a connection, in milliseconds. */
const PATIENCE_MS = 5000
/** Number of tests whether two sessions share a connection: others may use the pooler as well. */
const TRIES = 5

/**
 * Settings by name. The first three tell the planner about our statements: disks read at random nearly as
 * fast as in order, sorting ten thousand ids stays in memory, and no statement is so long that compiling it
 * pays. The last four determine how soon the server notices a host that vanished without closing its
 * connections, and releases its locks: after a minute, instead of two hours by the system's default.
 */
const SETTINGS: Record<string, string> = {
  random_page_cost: '1.1',
  work_mem: '16MB',
  jit: 'off',
  statement_timeout: String(STATEMENT_MS),
  tcp_keepalives_idle: '30',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '60000',
}

/**
 * Returns the statements that set up a new session. Settings from `?options=` in the operator's address take
 * precedence. The settings are not sent at connection time, because poolers refuse sessions that begin with
 * unknown settings. They are read from one session for all that begin alike: the server's list of settings
 * costs more than the beginning of a session.
 */
export async function sessionSettings(session: ClientBase): Promise<string> {
  const { rows } = await session.query<{ name: string }>(
    `select name from pg_settings where name = any($1) and source <> 'client'`,
    [Object.keys(SETTINGS)],
  )
  return rows.map(({ name }) => `set ${name} = '${SETTINGS[name]}'`).join('; ')
}

/**
 * Refuses a pooler that gives each transaction another connection: subscriptions to channels and held locks
 * would belong to another session a moment later.
 *
 * @param one a session of the connection
 * @throws Error with a message that says what to set
 */
export async function refuseSharing(one: Client, connection: ClientConfig): Promise<void> {
  const own = await backendOf(one)
  // PostgreSQL itself reports its process id at the beginning. A pooler reports another number.
  const { processID }: Client & { processID?: number | null } = one
  if (own === processID) return
  const other = session(connection)
  try {
    await other.connect()
    for (let tries = 0; tries < TRIES; tries += 1) {
      if ((await backendOf(other)) === own) throw new Error(SHARED)
      await other.query('begin')
      await backendOf(other)
      if ((await backendOf(one)) !== own) throw new Error(SHARED)
      await other.query('rollback')
    }
  } catch (error) {
    // A pooler in statement mode refuses transactions.
    if (/transaction blocks not allowed|Long transactions not allowed/i.test(String(error)))
      throw new Error(SHARED, { cause: error })
    throw error
  } finally {
    await other.end().catch(() => undefined)
  }
}

const SHARED =
  'DATABASE_URL: a pooler between gives each transaction another connection to PostgreSQL; Keyway listens to notifications and holds locks of a session, which cannot work so. Set pool_mode = session for this database (pgbouncer), or name PostgreSQL itself'

function session(connection: ClientConfig): Client {
  const made = new Client({
    ...connection,
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: PATIENCE_MS,
  })
  made.on('error', () => {})
  return made
}

async function backendOf(client: Client): Promise<number> {
  const asked = { text: 'select pg_backend_pid() as pid', query_timeout: PATIENCE_MS }
  const { rows } = await client.query(asked)
  return rows[0].pid
}
