/** Batches of stored accounts in the order of their ids, from a run's cursor. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import type { Walk } from './runs.ts'

/** Reads the app's ids of the next accounts after the cursor that the run has seen. */
export async function nextAccounts(db: Db, { app, run }: Walk, count: number): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    select unique_identifier as id from accounts
    where app_id = ${app.id} and seen_run = ${run.id} and gone_at is null
      and unique_identifier > ${run.cursor ?? ''}
    order by unique_identifier limit ${count}`)
  return rows.map(({ id }) => id)
}

/**
 * Returns the last id of the next batch of accounts, including removed ones, or null at the end. All
 * statements of a step select `unique_identifier > cursor and unique_identifier <= end`.
 */
export async function endOfBatch(
  db: Db,
  { app, run }: Walk,
  count: number,
): Promise<string | null> {
  const { rows } = await db.execute<{ last: string | null }>(sql`
    select max(id) as last from (
      select unique_identifier as id from accounts
      where app_id = ${app.id} and unique_identifier > ${run.cursor ?? ''}
      order by unique_identifier limit ${count}) as batch`)
  return rows[0]?.last ?? null
}
