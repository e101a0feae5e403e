/**
 * Removes expired rows in small batches, without waiting for locks. It can be stopped at any time. Each table
 * is walked once by an index in time order, so that remaining rows are not read again for each batch.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { pruneLog } from '../kernel/audit/prune-log.ts'
import { type KeptDays, RETENTION_NAMES, type RetentionName, retentionOf } from './rules.ts'

/** Maximum number of rows that one statement reads and removes. */
const BATCH = 500
/** Maximum time for one table per run, in milliseconds. The next run removes the rest. */
const TABLE_MS = 120_000
/** Pause after each batch that removed rows, in milliseconds, to leave the disk to others. */
const PAUSE_MS = 20

/** Position of a walk: moment and key of the last row that was read. */
type At = { moment: string; key: string }
type Walked = { looked: number; removed: number; moment: string | null; key: string | null }

const momentBefore = (name: RetentionName, days: number): SQL =>
  sql`${retentionOf(name).moment} < now() - make_interval(days => ${days})`

/** Returns the SQL condition for the rows to remove. */
export function isPrunable(name: RetentionName, days: number): SQL {
  const { isDone, isOver } = retentionOf(name)
  return sql`${momentBefore(name, days)} and ${isDone} and ${isOver}`
}

/** Removes the expired rows of each table. @returns number of removed rows, by table */
export async function prune(db: Db, kept: KeptDays, signal: AbortSignal): Promise<Removed> {
  const removed: Removed = {}
  for (const name of RETENTION_NAMES) {
    const endMs = performance.now() + TABLE_MS
    const { first } = retentionOf(name)
    if (first) await db.execute(first(kept[name]))
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
  if (kept.activity_logs !== null) {
    const rows = await pruneLog(db, kept.activity_logs, TABLE_MS, signal)
    if (rows > 0) removed.activity_logs = rows
  }
  return removed
}

/** Number of removed rows, by table. */
type Removed = Partial<Record<RetentionName | 'activity_logs', number>>

/** Returns the query for the next batch: the oldest rows after the position. */
export function lookedAt(name: RetentionName, days: number, at: At | null): SQL {
  const { moment, key, isDone, inOrder } = retentionOf(name)
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
  // Locked rows are skipped until the next run.
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
