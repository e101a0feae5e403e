/**
 * Version of the tables as a snapshot sees them: an exact number, not an estimate.
 *
 * Every statement that changes a tracked table adds one row with `changes` = 1 to `table_changes`, in its
 * own transaction (schema/changes.ts). The version is the sum of `changes` that a snapshot sees. Equal
 * versions mean equal rows, under any concurrency, for these reasons:
 *
 * 1. A snapshot that has written nothing itself sees exactly the changes committed before it. Of two such
 *    snapshots, the later one sees all changes that the earlier one saw: the sets of visible changes form a
 *    chain, however ids or commits interleave.
 * 2. Each change counts 1, so of two sets in a chain, the larger has the larger sum. Equal sums therefore
 *    mean equal sets of committed changes, and so equal rows.
 * 3. Rolled-back changes are never visible to another transaction, and cannot be mistaken for later ones.
 * 4. Folding replaces rows by one with their sum in a single statement: no snapshot sees part of it.
 *
 * After a failover, the new server may have lost the last changes and count on from there. The start time of
 * the server is therefore part of the version.
 *
 * Likewise, the sum of `rows` is the exact number of rows of a domain. (1) requires a transaction that writes
 * nothing, which `inSnapshot` provides.
 */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../database/database.ts'
import { tryLockUntilEnd } from '../../../database/locks.ts'

/** Number of rows of `table_changes` above which they are folded. */
const FOLD_ABOVE = 500

export type Versions = {
  /** Version of all tables together, or null if one of them is not tracked. */
  version: string | null
  /** Returns the number of rows of a tracked table in the domain. */
  rows(table: string): number | null
  /** Returns the number of rows of a tracked table in all domains. */
  size(table: string): number | null
}

/** Runs queries in one read-only snapshot. */
export function inSnapshot<T>(db: Db, ask: (tx: Db) => Promise<T>): Promise<T> {
  // In a transaction that writes, a version could include changes that are never committed.
  if ('rollback' in db) throw new Error('a list is read outside of transactions')
  return db.transaction(ask, { isolationLevel: 'repeatable read', accessMode: 'read only' })
}

type Sums = { table_name: string; stand: string; size: string; rows: string; parts: string }

/** Version of one table, computed from its rows of `table_changes`. */
const STAND = sql`table_name || ' ' || sum(changes) || ' ' || pg_postmaster_start_time()`

/** Returns an SQL value with the version of tables that are all tracked, for a query that runs alone. */
export const versionNow = (tables: SQL): SQL => sql`(
  select string_agg(stand, ' ' order by table_name) from (
    select table_name, ${STAND} as stand from table_changes
    where table_name = any(${tables}) group by table_name) of)`

/** Reads the versions that a snapshot sees. `onLong` is called if there are many rows to add up. */
export async function readVersions(
  tx: Db,
  tables: readonly string[],
  domainId: string,
  onLong: () => void,
): Promise<Versions> {
  const { rows: found } = await tx.execute<Sums>(sql`
    select table_name, ${STAND} as stand, sum(rows) as size, count(*) as parts,
      coalesce(sum(rows) filter (where domain_id::text = ${domainId}), 0) as rows
    from table_changes where table_name in ${[...tables]} group by table_name order by table_name`)
  if (found.some(({ parts }) => Number(parts) > FOLD_ABOVE)) onLong()
  const sums = new Map(found.map((one) => [one.table_name, one]))
  const version = sums.size === tables.length ? found.map(({ stand }) => stand).join(' ') : null
  const number = (text: string | undefined) => (text === undefined ? null : Number(text))
  return {
    version,
    rows: (table) => number(sums.get(table)?.rows),
    size: (table) => number(sums.get(table)?.size),
  }
}

/** Folds the rows of each table and domain into one. Does nothing while another caller is folding. */
export async function foldChanges(db: Db): Promise<void> {
  await db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ got: boolean }>(tryLockUntilEnd('folding changes'))
    if (!rows[0]?.got) return
    await tx.execute(sql`
      with gone as (delete from table_changes returning table_name, domain_id, changes, rows)
      insert into table_changes (table_name, domain_id, changes, rows)
      select table_name, domain_id, sum(changes), sum(rows) from gone group by table_name, domain_id`)
  })
}
