/** Enforcement of limits on the number of stored things (CALLER_LIMITS, `over: 'database'`). */
import { CALLER_LIMITS } from '../../contract/limits/caller-limits.ts'
import type { Db } from '../../database/database.ts'
import { lockTextUntilEnd } from '../../database/locks.ts'

/** Limits on things that are kept until they end or are removed. */
type Kept = {
  [N in keyof typeof CALLER_LIMITS]: (typeof CALLER_LIMITS)[N] extends Counted ? N : never
}[keyof typeof CALLER_LIMITS]
type Counted = { over: 'database'; most: number; perMs?: never }

type Room = { limit: Kept; owner: string }

/**
 * Locks the count for a limit and an `owner` until the transaction ends. Waits for other transactions that
 * hold the lock.
 */
export const lockCount = (tx: Db, { limit, owner }: Room) =>
  tx.execute(lockTextUntilEnd(`${limit} of ${owner}`))

/**
 * Checks that one more thing may be stored. Other transactions that count for the same `owner` wait until
 * this one ends: otherwise simultaneous ones would each find room for one more.
 *
 * @throws the error that `refusal` returns, given the maximum number
 */
export async function requireBelowLimit(
  tx: Db,
  room: Room,
  count: () => Promise<number>,
  refusal: (most: number) => Error,
): Promise<void> {
  await lockCount(tx, room)
  const { most } = CALLER_LIMITS[room.limit]
  if ((await count()) >= most) throw refusal(most)
}
