/** Measures how far the clock of this host is ahead of the database's. */
import type { Db } from './database.ts'
import { databaseTime } from './transactions.ts'

/**
 * Returns the difference in milliseconds, exact to half the duration of the query. Negative if this host's
 * clock is behind.
 */
export async function clockOffsetMs(db: Db): Promise<number> {
  const askedMs = Date.now()
  const beganMs = performance.now()
  const there = await databaseTime(db)
  const halfwayMs = askedMs + (performance.now() - beganMs) / 2
  return halfwayMs - there.getTime()
}
