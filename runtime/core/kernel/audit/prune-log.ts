/** Removing the oldest entries of the log, where an operator has set how long they are kept. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../../database/database.ts'
import { lockNumber } from '../../../database/locks.ts'

/** Most entries that one transaction removes, of a domain. */
const AT_ONCE = 5000

/** Removes what is older, for `longestMs` at most; answers how many entries. The rest follows in the next run. */
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
