/**
 * Writes that are deferred to the end of a transaction and then sent in the same message as its commit. Meant
 * for writes that take a lock which every writer needs: it is held only for the commit, however busy the host
 * is.
 */
import { sql } from 'drizzle-orm'
import type { Db } from './database.ts'

/**
 * Maximum number of items of a kind that one transaction collects. When it is reached, they are written at
 * once.
 */
const MAX_ITEMS = 500

type Tx = Parameters<Parameters<Db['transaction']>[0]>[0]

/** Writes that a transaction or a savepoint has collected, one entry per kind. */
type Collected = Set<Kind>
type Kind = {
  /** Returns the statements that write the items in `collected`, and removes the items from it. */
  statements(collected: Collected): string[]
  /** Adds the items of `from` to those of `to`. */
  move(from: Collected, to: Collected): void
}

const transactions = new WeakMap<Db, Collected>()

/**
 * Makes a write that is deferred to the end of its transaction. It is immediate if `tx` was not started by
 * `collectDeferred`.
 *
 * @param write Returns the statements that write some items. They have no parameters but literals
 * (`escapeLiteral` of pg), because they are sent together with the commit. If one fails, the transaction is
 * rolled back.
 */
export function deferToCommit<T>(
  write: (items: readonly T[]) => string[],
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
    statements(collected) {
      const items = take(collected)
      return items.length > 0 ? write(items) : []
    },
    move: (from, to) => void add(to, take(from)),
  }
  const send = async (tx: Db, statements: string[]): Promise<void> => {
    for (const statement of statements) await tx.execute(sql.raw(statement))
  }
  return async (tx, item) => {
    const collected = transactions.get(tx)
    if (!collected) return send(tx, write([item]))
    if (add(collected, [item]) >= MAX_ITEMS) await send(tx, kind.statements(collected))
  }
}

/**
 * Runs the work of a transaction that has begun. Returns its result and the statements to be sent with the
 * commit.
 */
export async function collectDeferred<T>(
  tx: Tx,
  work: (tx: Tx) => Promise<T>,
): Promise<{ result: T; statements: string[] }> {
  const collected: Collected = new Set()
  const result = await gatheringInto(collected, tx, work)
  return { result, statements: [...collected].flatMap((kind) => kind.statements(collected)) }
}

function gatheringInto<T>(collected: Collected, tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  transactions.set(tx, collected)
  const toSavepoint = tx.transaction.bind(tx)
  tx.transaction = async (inner) => {
    // A savepoint that is rolled back discards its items.
    const ofSavepoint: Collected = new Set()
    const result = await toSavepoint((sub) => gatheringInto(ofSavepoint, sub, inner))
    for (const kind of ofSavepoint) kind.move(ofSavepoint, collected)
    return result
  }
  return work(tx)
}
