/** How many connections a host takes of PostgreSQL's, and how many the server gives. */
import { sql } from 'drizzle-orm'
import type { Db } from './database.ts'

/** CONNECTIONS_OF_A_HOST: what for -> how many at most. */
export const CONNECTIONS_OF_A_HOST = {
  /** The pool: work in the background may hold some sixteen, each for a lock. */
  pool: 30,
  /** One for all channels: jobs, installed connectors, the operator's token. */
  listening: 1,
  /** Whether the database answers (answers.ts). */
  watching: 1,
} as const

/** All together. */
export const MOST_OF_A_HOST: number = Object.values<number>(CONNECTIONS_OF_A_HOST).reduce(
  (sum, one) => sum + one,
)

export type ConnectionLimit = {
  /** How many connections the login of the hosts may have on this database. */
  connections: number
  /** What limits them, with its value. */
  limit: string
}

/** Asks the server; a pooler between may give fewer. */
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
  // Below zero there is no such limit.
  const [least = limits[0]] = limits
    .filter(({ connections }) => connections >= 0)
    .sort((a, b) => a.connections - b.connections)
  if (!least) throw new Error('PostgreSQL gives no connections')
  return least
}
