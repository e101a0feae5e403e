/** Writing of listed rows that have a single key. */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { KEEP_INDEX_LOOKUP } from '../../database/planner-hints.ts'
import { WAS_NEW } from './storable-texts.ts'

/** Rows to write, and the parts of the statements. */
type ListedRows = {
  /** True if the rows are expected to be new. */
  isNew: boolean
  count: number
  /** Number of the run that lists them. */
  run: number
  /** Query that yields the rows, as `row`. */
  given: SQL
  /** Insert statement from `row`. */
  insert: SQL
  /** Clause for a row that exists. */
  update: SQL
  /** Query for the existing row of one `row`, with the run that saw it last. */
  old: SQL
}

/**
 * Writes rows. Returns the number of rows, and how many of them this run had written before.
 *
 * New rows are inserted without an upsert, so that an existing row is an error. If another transaction of the
 * run is writing that row, an upsert would wait for it but could not tell which run had written it.
 *
 * @throws the error of PostgreSQL if a row that is expected to be new exists (`isTaken`)
 */
export async function writeRows(
  tx: Db,
  { isNew, count, run, given, insert, update, old }: ListedRows,
): Promise<{ written: number; repeated: number }> {
  if (isNew) {
    await tx.execute(sql`with row as (${given}) ${insert}`)
    return { written: count, repeated: 0 }
  }
  const { rows } = await tx.execute<{ again: string }>(sql`
    with row as (${given}), written as (${insert} ${update} returning ${WAS_NEW} as was_new)
    select case (select count(*) from written where was_new) when ${count} then 0 else (
      select count(*) from row cross join lateral (${old} ${KEEP_INDEX_LOOKUP}) old
      where old.seen_run = ${run}) end as again`)
  return { written: count, repeated: Number(rows[0]?.again) }
}
