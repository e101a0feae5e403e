/** Removal of the oldest log entries, if an operator has set a retention period. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../../database/database.ts'
import { lockNumber } from '../../../database/locks.ts'

/** Maximum number of entries that one transaction removes per domain. */
const AT_ONCE = 5000

/**
 * Removes entries older than `keptDays`, for at most `longestMs`. Returns their number. The next run removes
 * the rest.
 */
export async function pruneLog(
  db: Db,
  keptDays: number,
  longestMs: number,
  signal: AbortSignal,
): Promise<number> {
  const endMs = performance.now() + longestMs
  const lock = lockNumber('chaining the log')
  let removed = 0
  while (!signal.aborted && performance.now() < endMs) {
    const { rows } = await db.execute<{ gone: number }>(sql`
      select coalesce(sum(prune_activity(id, ${keptDays}, ${AT_ONCE}, ${lock})), 0)::int as gone from domains`)
    const gone = rows[0]?.gone ?? 0
    removed += gone
    if (gone < AT_ONCE) break
  }
  return removed
}
