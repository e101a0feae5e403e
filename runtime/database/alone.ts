/** Doing something that no other host does at the same time, for as long as it takes. */
import { sql } from 'drizzle-orm'
import type { Pool, PoolClient } from 'pg'
import type { Db } from './database.ts'

/** Numbers of locks that are made of texts: apart from those of locks.ts, which are single numbers. */
const KIND = 0x6b6579

// Sent for every job: prepared.
const LOCK = { name: 'take turn', text: 'select pg_try_advisory_lock($1, hashtext($2)) as got' }
const UNLOCK = { name: 'end turn', text: 'select pg_advisory_unlock($1, hashtext($2))' }

/**
 * Does some work while nobody else who shares the database does any under the same name; answers false,
 * without doing it, if another host does. The lock lives with a connection of its own: a host that is killed
 * loses it at once. When the connection is lost, `signal` is aborted: others may have begun.
 */
export async function alone(
  db: Db,
  name: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<boolean> {
  // The cast: a member that drizzle's type of a database in a transaction leaves out.
  const client: PoolClient = await (db as unknown as { $client: Pool }).$client.connect()
  const lost = new AbortController()
  const onLost = (error?: Error) =>
    lost.abort(error ?? new Error('the connection to the database was lost'))
  client.on('error', onLost)
  client.on('end', onLost)
  let failed = true
  try {
    const { rows } = await client.query({ ...LOCK, values: [KIND, name] })
    const got: boolean = rows[0]?.got ?? false
    if (got) {
      await work(lost.signal)
      await client.query({ ...UNLOCK, values: [KIND, name] })
    }
    failed = false
    return got
  } finally {
    client.off('error', onLost)
    client.off('end', onLost)
    // Closing it gives every lock back that it may still hold.
    client.release(failed)
  }
}

/** Those of some names under which nobody does anything now. */
export async function idle(db: Db, names: readonly string[]): Promise<string[]> {
  const { rows } = await db.execute<{ name: string }>(sql`
    select name from unnest(${sql.param([...names])}::text[]) name
    where not exists (
      select from pg_locks
      where locktype = 'advisory' and classid = ${KIND}::oid and objsubid = 2
        and objid::bigint = hashtext(name)::bigint & 4294967295
        and database = (select oid from pg_database where datname = current_database())
    )`)
  return rows.map(({ name }) => name)
}
