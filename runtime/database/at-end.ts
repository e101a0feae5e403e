/**
 * Writes that are deferred to the end of a transaction and then made in one statement. Meant for writes that take a lock
 * which every writer needs: the lock is then held only for the commit.
 */
import type { Db } from './database.ts'

/** Writes the collected items; called inside the transaction, before it commits. An error rolls the transaction back. */
export type AtEnd<T> = (tx: Db, gathered: readonly T[]) => Promise<void>

/** Most items that one transaction collects; when it has as many, they are written at once. */
const MOST = 500

type Tx = Parameters<Parameters<Db['transaction']>[0]>[0]

type Gathered = Map<AtEnd<never>, unknown[]>
const transactions = new WeakMap<Db, Gathered>()

/** Has something written at the end of a transaction; at once where `tx` is none that was begun by `gathering`. */
export async function atEnd<T>(tx: Db, write: AtEnd<T>, one: T): Promise<void> {
  const gathered = transactions.get(tx)
  if (!gathered) return write(tx, [one])
  const all = (gathered.get(write) ?? []) as T[]
  all.push(one)
  gathered.set(write, all)
  if (all.length >= MOST) await writeOut(tx, gathered)
}

/** Does the work of a transaction that has begun, and then writes what it gathered. */
export async function gathering<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  const gathered: Gathered = new Map()
  const result = await gatheringInto(gathered, tx, work)
  await writeOut(tx, gathered)
  return result
}

function gatheringInto<T>(gathered: Gathered, tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  transactions.set(tx, gathered)
  const toSavepoint = tx.transaction.bind(tx)
  tx.transaction = async (inner) => {
    // What is undone to a savepoint takes along what was gathered behind it.
    const behind: Gathered = new Map()
    const result = await toSavepoint((sub) => gatheringInto(behind, sub, inner))
    for (const [write, all] of behind) gathered.set(write, [...(gathered.get(write) ?? []), ...all])
    return result
  }
  return work(tx)
}

async function writeOut(tx: Db, gathered: Gathered): Promise<void> {
  for (const [write, all] of gathered) await write(tx, all.splice(0) as never[])
}
