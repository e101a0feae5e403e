/**
 * Retries transactions that PostgreSQL aborted because of a concurrent one. Taking locks in one order keeps
 * this rare: policies, users, roles of admins, offboardings, apps, requests, permissions, tasks, jobs, and
 * last the activity log (deferred-writes.ts).
 */
import { setTimeout as pause } from 'node:timers/promises'
import { codeOf, messageOf } from '../contract/errors/thrown.ts'
import type { Beginning } from './database.ts'

/** SQLSTATE of deadlock_detected, serialization_failure and lock_not_available. */
const CONTENDED: readonly unknown[] = ['40P01', '40001', '55P03']

/** Maximum number of retries of one transaction. */
const MAX_RETRIES = 5
/** No retry starts later than this after the first attempt, in milliseconds. */
const MAX_WAIT_MS = 10_000
/** Longest pause before the first retry, in milliseconds; it doubles with each retry. */
const PAUSE_MS = 20

/**
 * Options of a transaction that must not be retried, because it consumes input that can be read only once.
 */
export const NO_RETRY: Beginning = { once: true }

/**
 * Message if two transactions change the rights or the shape of the same table: an internal error without a
 * code of its own.
 */
const CONTENDED_ROW = /^tuple concurrently (updated|deleted)$/

/** SQLSTATE of query_canceled: by statement_timeout, or by an administrator. */
const TOO_SLOW = '57014'

/**
 * Reports whether PostgreSQL aborted a transaction because of a concurrent one, so that it can be retried.
 */
export function isContended(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) {
    const code = codeOf(one)
    const message = messageOf(one)
    if (CONTENDED.includes(code) || (code === 'XX000' && CONTENDED_ROW.test(message))) return true
  }
  return false
}

/** SQLSTATE of unique_violation. */
const TAKEN = '23505'

/** Reports whether PostgreSQL refused a row because another row has its key. */
export function isTaken(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause)
    if (codeOf(one) === TAKEN) return true
  return false
}

/**
 * Reports whether PostgreSQL ended a statement because it took too long or because an administrator cancelled
 * it.
 */
export function isTooSlow(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause)
    if (codeOf(one) === TOO_SLOW) return true
  return false
}

/**
 * Runs a transaction and retries it while contention aborts it.
 * @throws the last error
 */
export async function retryOnContention<T>(transaction: () => Promise<T>): Promise<T> {
  const beganMs = performance.now()
  for (let times = 0; ; times += 1) {
    try {
      return await transaction()
    } catch (error) {
      const isLate = performance.now() - beganMs > MAX_WAIT_MS
      if (!isContended(error) || times === MAX_RETRIES || isLate) throw error
      // Random, so that two transactions that collided do not collide again.
      await pause(Math.random() * PAUSE_MS * 2 ** times)
    }
  }
}
