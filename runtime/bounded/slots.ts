/**
 * Calls in flight, by number. Not a Map: V8 allocates a new table whenever a Map grows, shrinks or is full of
 * deleted entries. Once such a table is promoted, later ones are allocated as old and each retains its last
 * contents, so that nearly every call would live until the next full collection (test/bench/RESULTS.md).
 */

type Slots<V> = {
  /** Stores a value under a number greater than all before. After the greatest, numbers start again at 1. */
  add(value: V): number
  get(id: number): V | undefined
  delete(id: number): void
  /** All current values, in no particular order. */
  values(): V[]
  readonly size: number
}

/** A power of two, like all later sizes. */
const FIRST_SIZE = 64

/** Numbers are sent as unsigned 32-bit integers. */
const MAX_ID = 2 ** 32 - 1

export function createSlots<V extends object>(maxId: number = MAX_ID): Slots<V> {
  let held = new Array<V | null>(FIRST_SIZE).fill(null)
  let ids = new Array<number>(FIRST_SIZE).fill(0)
  let size = 0
  let last = 0

  const placeOf = (id: number): number => id & (held.length - 1)
  const after = (id: number): number => (id === maxId ? 1 : id + 1)

  /** Doubles the capacity. Two numbers with different places keep different places in twice as many. */
  function grow(): void {
    const [old, oldIds] = [held, ids]
    held = new Array<V | null>(2 * old.length).fill(null)
    ids = new Array<number>(2 * old.length).fill(0)
    for (const [at, value] of old.entries()) {
      if (value === null) continue
      const id = oldIds[at] ?? 0
      held[placeOf(id)] = value
      ids[placeOf(id)] = id
      old[at] = null
    }
  }

  return {
    add(value) {
      if (2 * size >= held.length) grow()
      last = after(last)
      // A long-lived call keeps its place. Numbers that map to it are skipped.
      while (held[placeOf(last)] !== null) last = after(last)
      held[placeOf(last)] = value
      ids[placeOf(last)] = last
      size += 1
      return last
    },
    get(id) {
      const at = placeOf(id)
      return ids[at] === id ? (held[at] ?? undefined) : undefined
    },
    delete(id) {
      const at = placeOf(id)
      if (ids[at] !== id || held[at] === null) return
      held[at] = null
      size -= 1
    },
    values: () => held.filter((one) => one !== null),
    get size() {
      return size
    },
  }
}
