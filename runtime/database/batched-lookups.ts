/**
 * Combines lookups by a key that many callers make at once, such as the owner of a token. Lookups that arrive
 * while one is under way wait and are then sent as one. A lookup is sent after it was requested, so no result
 * is older than its request.
 */
import type { Db } from './database.ts'

/** Maximum number of keys in one statement. */
const MAX_KEYS = 100
/**
 * Maximum time that a lookup waits for another one, in milliseconds: a hanging connection must not delay
 * others.
 */
const PATIENCE_MS = 20

type Batch<R> = { keys: Set<string>; answer: Promise<readonly R[]>; send(): void }

/**
 * Makes a lookup of rows by one key from a query for several keys. In a transaction, which must see its own
 * writes, it is sent at once.
 *
 * @param ask must not fail because of a single key: an error applies to all keys of the query
 * @param keyOf returns the key by which a row was found
 */
export function together<R>(
  ask: (db: Db, keys: readonly string[]) => Promise<readonly R[]>,
  keyOf: (row: R) => string,
): (db: Db, key: string) => Promise<readonly R[]> {
  const states = new WeakMap<Db, { underWay: number; waiting: Batch<R> | null }>()

  function open(db: Db): Batch<R> {
    const state = states.get(db) ?? { underWay: 0, waiting: null }
    states.set(db, state)
    if (state.waiting) return state.waiting
    const { promise, resolve, reject } = Promise.withResolvers<readonly R[]>()
    const batch: Batch<R> = { keys: new Set(), answer: promise, send }
    const timer = state.underWay > 0 ? setTimeout(send, PATIENCE_MS) : undefined
    if (!timer) queueMicrotask(send)
    state.waiting = batch
    return batch

    function send(): void {
      // The batch was full and sent before its time.
      if (state.waiting !== batch) return
      clearTimeout(timer)
      state.waiting = null
      state.underWay += 1
      ask(db, [...batch.keys])
        .finally(() => {
          state.underWay -= 1
          state.waiting?.send()
        })
        .then(resolve, reject)
    }
  }

  return async (db, key) => {
    if ('rollback' in db) return ask(db, [key])
    const batch = open(db)
    batch.keys.add(key)
    if (batch.keys.size === MAX_KEYS) batch.send()
    return (await batch.answer).filter((row) => keyOf(row) === key)
  }
}
