/**
 * Writes that are deferred to the end of a transaction and then made in one statement. Meant for writes that take a lock
 * which every writer needs: the lock is then held only for the commit.
 */
import type { Db } from './database.ts'

/** Most items that one transaction collects of a kind; when it has as many, they are written at once. */
const MOST = 500

type Tx = Parameters<Parameters<Db['transaction']>[0]>[0]

/** What a transaction, or a savepoint in one, has collected: one entry per kind of write. */
type Collected = Set<Kind>
type Kind = {
  /** Writes the items of `collected`. */
  write(tx: Db, collected: Collected): Promise<void>
  /** Adds the items of `from` to those of `to`. */
  move(from: Collected, to: Collected): void
}

const transactions = new WeakMap<Db, Collected>()

/**
 * Makes a write that is deferred to the end of its transaction; at once if `tx` was not started by `gathering`.
 *
 * @param write called inside the transaction, before it commits. An error rolls the transaction back
 */
export function atEnd<T>(
  write: (tx: Db, items: readonly T[]) => Promise<void>,
): (tx: Db, item: T) => Promise<void> {
  const itemsOf = new WeakMap<Collected, T[]>()
  const take = (collected: Collected): T[] => itemsOf.get(collected)?.splice(0) ?? []
  function add(collected: Collected, items: readonly T[]): number {
    const all = itemsOf.get(collected) ?? []
    all.push(...items)
    itemsOf.set(collected, all)
    collected.add(kind)
    return all.length
  }
  const kind: Kind = {
    async write(tx, collected) {
      const items = take(collected)
      if (items.length > 0) await write(tx, items)
    },
    move: (from, to) => void add(to, take(from)),
  }
  return async (tx, item) => {
    const collected = transactions.get(tx)
    if (!collected) return write(tx, [item])
    if (add(collected, [item]) >= MOST) await kind.write(tx, collected)
  }
}

/** Runs the work of a transaction that has begun, and then writes what it collected. */
export async function gathering<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  const collected: Collected = new Set()
  const result = await gatheringInto(collected, tx, work)
  for (const kind of collected) await kind.write(tx, collected)
  return result
}

function gatheringInto<T>(collected: Collected, tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  transactions.set(tx, collected)
  const toSavepoint = tx.transaction.bind(tx)
  tx.transaction = async (inner) => {
    // A savepoint that is rolled back discards what it collected.
    const ofSavepoint: Collected = new Set()
    const result = await toSavepoint((sub) => gatheringInto(ofSavepoint, sub, inner))
    for (const kind of ofSavepoint) kind.move(ofSavepoint, collected)
    return result
  }
  return work(tx)
}
