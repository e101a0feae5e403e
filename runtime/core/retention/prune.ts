/**
 * Removes what is not kept any more, in small batches: nobody waits for a lock, and a stop loses nothing. A table is
 * walked by an index in the order of time, once: what stays is not looked at again for each batch.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { type KeptDays, RETENTION_NAMES, type RetentionName, retentionOf } from './rules.ts'

/** Rows that one statement looks at, and removes at most. */
const BATCH = 500
/** How long one table is worked on at a time: what is left goes the next time, in milliseconds. */
const TABLE_MS = 120_000
/** Pause behind each batch that removed something, so that others have the disk meanwhile, in milliseconds. */
const PAUSE_MS = 20

/** Where a walk is: the moment and the key of the last row that was looked at. */
type At = { moment: string; key: string }
type Walked = { looked: number; removed: number; moment: string | null; key: string | null }

const momentBefore = (name: RetentionName, days: number): SQL =>
  sql`${retentionOf(name).moment} < now() - make_interval(days => ${days})`

/** A condition on rows of a table: they go. */
export function isPrunable(name: RetentionName, days: number): SQL {
  const { isDone = sql`true`, isOver } = retentionOf(name)
  return sql`${momentBefore(name, days)} and ${isDone} and ${isOver}`
}

/** Removes what is over of each table; answers how many rows of which. */
export async function prune(
  db: Db,
  kept: KeptDays,
  signal: AbortSignal,
): Promise<Partial<Record<RetentionName, number>>> {
  const removed: Partial<Record<RetentionName, number>> = {}
  for (const name of RETENTION_NAMES) {
    const endMs = performance.now() + TABLE_MS
    let rows = 0
    let at: At | null = null
    while (!signal.aborted && performance.now() < endMs) {
      const batch = await removeBatch(db, name, kept[name], at)
      rows += batch.removed
      const isPast = retentionOf(name).inOrder && batch.removed < batch.looked
      if (batch.looked < BATCH || batch.moment === null || batch.key === null || isPast) break
      at = { moment: batch.moment, key: batch.key }
      if (batch.removed > 0) await pause(PAUSE_MS)
    }
    if (rows > 0) removed[name] = rows
  }
  return removed
}

/** The rows that a batch looks at: the oldest behind those of the batch before. */
export function lookedAt(name: RetentionName, days: number, at: At | null): SQL {
  const { moment, key, isDone = sql`true`, inOrder } = retentionOf(name)
  const [column, type] = [sql.identifier(key[0]), sql.raw(key[1])]
  const order = inOrder ? sql`${column}` : sql`${moment}, ${column}`
  const old = inOrder ? sql`true` : sql`${momentBefore(name, days)} and ${isDone}`
  const behind =
    at === null
      ? sql`true`
      : inOrder
        ? sql`${column} > ${at.key}::${type}`
        : sql`(${moment}, ${column}) > (${at.moment}::timestamptz, ${at.key}::${type})`
  return sql`select ctid, ${moment} as moment, ${column} as key from ${sql.identifier(name)}
    where ${old} and ${behind} order by ${order} limit ${BATCH}`
}

async function removeBatch(
  db: Db,
  name: RetentionName,
  days: number,
  at: At | null,
): Promise<Walked> {
  const table = sql.identifier(name)
  const last = retentionOf(name).inOrder ? sql`key desc` : sql`moment desc, key desc`
  // What somebody else has just changed stays for the next time, and nobody is waited for.
  const { rows } = await db.execute<Walked>(sql`
    with looked as materialized (${lookedAt(name, days, at)}),
    held as materialized (
      select ctid from ${table}
      where ctid = any(array(select ctid from looked)) and ${isPrunable(name, days)}
      for update skip locked),
    gone as (delete from ${table} where ctid = any(array(select ctid from held)) returning 1)
    select (select count(*)::int from looked) as looked, (select count(*)::int from gone) as removed,
      (select moment::text from looked order by ${last} limit 1) as moment,
      (select key::text from looked order by ${last} limit 1) as key`)
  return rows[0] ?? { looked: 0, removed: 0, moment: null, key: null }
}
