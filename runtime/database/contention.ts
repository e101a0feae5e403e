/**
 * Transactions that PostgreSQL ends in favour of others: nothing of them was done, so they are done again. The
 * order in which locks are taken keeps this rare: policies, users, apps, requests, permissions, tasks, jobs, and at
 * the very end the log (at-end.ts).
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { PgTransactionConfig } from 'drizzle-orm/pg-core'

/** SQLSTATE of a deadlock, of a transaction that cannot be put in order, and of a lock that was not had in time. */
const CONTENDED: readonly unknown[] = ['40P01', '40001', '55P03']

/** How often a transaction is done again, and how long it may have taken so far, in milliseconds. */
const MOST_TIMES = 5
const LONGEST_MS = 10_000
/** The longest pause before the first of them, in milliseconds; it grows with each. */
const PAUSE_MS = 20

/** For a transaction that cannot be done again, because it reads what can be read only once. */
export const ONCE: PgTransactionConfig = {}

/** Whether PostgreSQL ended a transaction in favour of another: nothing of it was done. */
export function isContended(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause)
    if (CONTENDED.includes((one as NodeJS.ErrnoException).code)) return true
  return false
}

/** Does a transaction, and again where it was ended in favour of another. @throws what it threw last */
export async function whenContendedAgain<T>(transaction: () => Promise<T>): Promise<T> {
  const beganMs = performance.now()
  for (let times = 0; ; times += 1) {
    try {
      return await transaction()
    } catch (error) {
      const isLate = performance.now() - beganMs > LONGEST_MS
      if (!isContended(error) || times === MOST_TIMES || isLate) throw error
      // At different moments: two that began again together would meet again.
      await pause(Math.random() * PAUSE_MS * 2 ** times)
    }
  }
}
