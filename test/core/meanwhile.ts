/** Two that do something at once, in an order that a test chooses. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../runtime/database/database.ts'
import { until } from '../e2e/until.ts'

/**
 * Does `first`, and commits it once `second` waits for it: what `second` read before that is what was there before.
 *
 * @param inTheWay How many then wait, where `first` has made others wait as well.
 * @returns What becomes of `second`.
 */
export async function meanwhile<T>(
  db: Db,
  first: (tx: Db) => Promise<unknown>,
  second: () => Promise<T>,
  inTheWay = 1,
): Promise<T> {
  const isDone = Promise.withResolvers<void>()
  const mayEnd = Promise.withResolvers<void>()
  const begun = db.transaction(async (tx) => {
    await first(tx)
    isDone.resolve()
    await mayEnd.promise
  })
  begun.catch(isDone.reject)
  await isDone.promise
  let isOver = false
  const other = second().finally(() => {
    isOver = true
  })
  // Whoever awaits it is told below.
  other.catch(() => undefined)
  await until(
    'the second waits for the first',
    async () => isOver || (await countWaiting(db)) >= inTheWay,
  ).finally(mayEnd.resolve)
  await begun
  return other
}

/** How many transactions of a database wait for others. */
export async function countWaiting(db: Db): Promise<number> {
  const { rows } =
    await db.execute(sql`select distinct pid from pg_locks join pg_stat_activity using (pid)
    where datname = current_database() and not granted`)
  return rows.length
}
