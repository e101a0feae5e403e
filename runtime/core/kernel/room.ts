/** Keeping to a number of things that the database counts (CALLER_LIMITS, `over: 'database'`). */
import { CALLER_LIMITS } from '../../contract/limits/caller-limits.ts'
import type { Db } from '../../database/database.ts'
import { lockTextUntilEnd } from '../../database/locks.ts'

/** Limits of things that are kept until somebody removes them, or they end. */
type Kept = {
  [N in keyof typeof CALLER_LIMITS]: (typeof CALLER_LIMITS)[N] extends Counted ? N : never
}[keyof typeof CALLER_LIMITS]
type Counted = { over: 'database'; most: number; perMs?: never }

type Room = { limit: Kept; owner: string }

/** Waits until nobody else makes room for one more of the same `owner`; others wait until the transaction ends. */
export const lockRoom = (tx: Db, { limit, owner }: Room) =>
  tx.execute(lockTextUntilEnd(`${limit} of ${owner}`))

/**
 * Makes sure that one more may be kept. What is counted for the same `owner` waits until the transaction ends: else many
 * at once would all find room for one more.
 *
 * @throws what `refusal` answers, told how many there may be
 */
export async function demandRoom(
  tx: Db,
  room: Room,
  count: () => Promise<number>,
  refusal: (most: number) => Error,
): Promise<void> {
  await lockRoom(tx, room)
  const { most } = CALLER_LIMITS[room.limit]
  if ((await count()) >= most) throw refusal(most)
}
