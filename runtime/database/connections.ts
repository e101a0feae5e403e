/** The number of connections that a host uses, and the number that the server permits. */
import { sql } from 'drizzle-orm'
import type { Db } from './database.ts'

/** CONNECTIONS_PER_HOST: purpose -> maximum number. */
export const CONNECTIONS_PER_HOST = {
  /** The pool. Background work may hold about sixteen, each for a lock. */
  pool: 30,
  /** One for all channels: jobs, installed connectors, the operator's token. */
  listening: 1,
  /** Watches whether the database answers (database-watch.ts). */
  watching: 1,
} as const

/** Total of all purposes. */
export const MAX_CONNECTIONS_PER_HOST: number = Object.values<number>(CONNECTIONS_PER_HOST).reduce(
  (sum, one) => sum + one,
)

export type ConnectionLimit = {
  /** Number of connections that the hosts' login may have on this database. */
  connections: number
  /** Limiting setting, with its value. */
  limit: string
}

/** Asks the server for its limits. A pooler in between may permit fewer. */
export async function givenConnections(db: Db): Promise<ConnectionLimit> {
  const { rows } = await db.execute<{
    max: number
    reserved: number
    role: number
    db: number
  }>(sql`
    select current_setting('max_connections')::int as max,
      current_setting('superuser_reserved_connections')::int
        + coalesce(current_setting('reserved_connections', true)::int, 0) as reserved,
      (select rolconnlimit from pg_roles where rolname = session_user) as role,
      (select datconnlimit from pg_database where datname = current_database()) as db`)
  const [found] = rows
  if (!found) throw new Error('PostgreSQL did not say how many connections it gives')
  const { max, reserved, role, db: database } = found
  const limits: ConnectionLimit[] = [
    { connections: max - reserved, limit: `max_connections ${max}, ${reserved} of them reserved` },
    { connections: role, limit: `the connection limit ${role} of the role` },
    { connections: database, limit: `the connection limit ${database} of the database` },
  ]
  // A negative value means no limit.
  const [least = limits[0]] = limits
    .filter(({ connections }) => connections >= 0)
    .sort((a, b) => a.connections - b.connections)
  if (!least) throw new Error('PostgreSQL gives no connections')
  return least
}
