/** Removes what is not kept any more, in small batches: nobody waits for a lock, and a stop loses nothing. */
import { setTimeout as pause } from 'node:timers/promises'
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { type KeptDays, RETENTION_NAMES, type RetentionName, retentionOf } from './rules.ts'

/** Rows that one statement removes. */
const BATCH = 500
/** Batches of one table at a time: what is left goes the next time. */
const MOST_BATCHES = 400
/** Pause behind each batch, so that others have the disk meanwhile, in milliseconds. */
const PAUSE_MS = 20

/** A condition on rows of a table: they go. */
export function isPrunable(name: RetentionName, days: number): SQL {
  const { moment, isOver } = retentionOf(name)
  return sql`${moment} < now() - make_interval(days => ${days}) and ${isOver}`
}

/** Removes what is over of each table; answers how many rows of which. */
export async function prune(
  db: Db,
  kept: KeptDays,
  signal: AbortSignal,
): Promise<Partial<Record<RetentionName, number>>> {
  const removed: Partial<Record<RetentionName, number>> = {}
  for (const name of RETENTION_NAMES) {
    let rows = 0
    for (let batch = 0; batch < MOST_BATCHES && !signal.aborted; batch += 1) {
      const count = await removeBatch(db, name, kept[name])
      rows += count
      if (count === 0) break
      await pause(PAUSE_MS)
    }
    if (rows > 0) removed[name] = rows
  }
  return removed
}

async function removeBatch(db: Db, name: RetentionName, days: number): Promise<number> {
  const table = sql.identifier(name)
  const goes = isPrunable(name, days)
  const from = retentionOf(name).inOrder
    ? sql`(select ctid from (select ctid, * from ${table} order by id limit ${BATCH}) as ${table} where ${goes})`
    : sql`(select ctid from ${table} where ${goes} limit ${BATCH} for update skip locked)`
  // What has changed since it was chosen is looked at once more.
  const { rowCount } = await db.execute(
    sql`delete from ${table} where ctid = any(array${from}) and ${goes}`,
  )
  return rowCount ?? 0
}
