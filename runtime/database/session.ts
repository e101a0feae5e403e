/** What every session of the pool is set to, and whether a session is one: behind some poolers it is not. */
import { Client, type ClientBase, type ClientConfig } from 'pg'

/** Longest a single statement of the interface may take, in milliseconds. */
const STATEMENT_MS = 30_000
/** How long a pooler may take to give a connection, in milliseconds. */
const PATIENCE_MS = 5000
/** How often it is tried whether two sessions share a connection: others may use the pooler as well. */
const TRIES = 5

/**
 * Settings by name. The first three are what the planner should know of our questions: disks read at random
 * nearly as fast as in order, sorting ten thousand ids stays in memory, and no question is so long that
 * compiling it pays. The last four say how soon the server misses a host that vanished without a word, and
 * gives its locks to others: after a minute, not after the two hours of its system.
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
 * The statements that set a session which was just begun; what the operator's address sets with `?options=` stays. They
 * are not said when it begins: poolers refuse sessions that begin with settings which they do not know. Asked of one
 * session for all that begin as it did: the server's list of settings costs more than the beginning of a session.
 */
export async function sessionSettings(session: ClientBase): Promise<string> {
  const { rows } = await session.query<{ name: string }>(
    `select name from pg_settings where name = any($1) and source <> 'client'`,
    [Object.keys(SETTINGS)],
  )
  return rows.map(({ name }) => `set ${name} = '${SETTINGS[name]}'`).join('; ')
}

/**
 * Refuses a pooler that gives each transaction another connection: what a host listens to, and the locks that
 * it holds, would be another session's a moment later.
 *
 * @param one a session of the connection
 * @throws Error with a message that says what to set.
 */
export async function refuseSharing(one: Client, connection: ClientConfig): Promise<void> {
  const own = await backendOf(one)
  // PostgreSQL itself says at the beginning who it is; a pooler says something else.
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
