/** Runs work that must not run on two hosts at the same time, for as long as it takes. */
import { sql } from 'drizzle-orm'
import type { Pool, PoolClient } from 'pg'
import type { Db } from './database.ts'

/** Namespace of the locks that are named by texts. Those of locks.ts are single numbers. */
const KIND = 0x6b6579

// Prepared, because they are sent for every job.
const LOCK = { name: 'take turn', text: 'select pg_try_advisory_lock($1, hashtext($2)) as got' }
const UNLOCK = { name: 'end turn', text: 'select pg_advisory_unlock($1, hashtext($2))' }

/**
 * Runs some work unless another host that shares the database runs work of the same name. In that case
 * returns false without running it. The lock belongs to a connection of its own, so that a killed host loses
 * it at once. If the connection is lost, `signal` is aborted: another host may have begun.
 */
export async function alone(
  db: Db,
  name: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<boolean> {
  // The cast: drizzle's type of a database in a transaction lacks this member.
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
    // Closing the connection releases every lock that it may still hold.
    client.release(failed)
  }
}

/** Returns the names under which no host runs any work now. */
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
