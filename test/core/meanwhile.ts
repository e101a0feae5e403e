/** Two concurrent operations, in an order that a test chooses. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../runtime/database/database.ts'
import { until } from '../e2e/until.ts'

/**
 * Runs `first` in a transaction and commits it once `second` waits for its locks; so `second` has read the
 * state before `first`.
 *
 * @param inTheWay How many transactions have to wait, if `first` makes others wait as well.
 * @returns The result of `second`.
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
  // The caller receives a rejection below; until then it must not count as unhandled.
  other.catch(() => undefined)
  await until(
    'the second call waits for the lock of the first',
    async () => isOver || (await countWaiting(db)) >= inTheWay,
  ).finally(mayEnd.resolve)
  await begun
  return other
}

/** Counts the transactions of a database that wait for a lock. */
export async function countWaiting(db: Db): Promise<number> {
  const { rows } =
    await db.execute(sql`select distinct pid from pg_locks join pg_stat_activity using (pid)
    where datname = current_database() and not granted`)
  return rows.length
}
