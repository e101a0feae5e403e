/** Writes listed rows of a kind that is known by one key. */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { EACH_BY_KEY, WAS_NEW } from './kept.ts'

/** Rows, and the parts of the statements that write them. */
type ListedRows = {
  /** Whether they are expected to be new. */
  isNew: boolean
  count: number
  /** The number of the run that lists them. */
  run: number
  /** What gives the rows, as `row`. */
  given: SQL
  /** Inserts what is in `row`. */
  insert: SQL
  /** What is done, instead, with a row that is there. */
  update: SQL
  /** Finds what was there of one `row`, with the run that saw it last. */
  old: SQL
}

/**
 * Answers how many rows were written, and how many of them the run had written before.
 *
 * New ones are inserted alone, so that one that is there is refused: while another transaction of the run writes it, a
 * statement that updates it would wait, but not see which run had written it.
 *
 * @throws where a row that is expected to be new is there (`isTaken`)
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
      select count(*) from row cross join lateral (${old} ${EACH_BY_KEY}) old
      where old.seen_run = ${run}) end as again`)
  return { written: count, repeated: Number(rows[0]?.again) }
}
