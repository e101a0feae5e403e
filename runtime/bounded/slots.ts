/**
 * What is under way, by number. Not a Map: V8 makes a new table whenever a Map or Set grows, shrinks or is full of what
 * was deleted. Once such a table is old all later ones are born old, each keeps what was in it at its end, and so nearly
 * every call would live until the next collection of the whole heap (test/bench/RESULTS.md).
 */

type Slots<V> = {
  /** Puts a value in, under a number that is greater than all before; after the greatest they begin again at 1. */
  add(value: V): number
  get(id: number): V | undefined
  delete(id: number): void
  /** All of them as they are now, in no particular order. */
  values(): V[]
  readonly size: number
}

/** A power of two, as all later sizes are. */
const FIRST_SIZE = 64

/** Numbers go over the wire as 32 bits without a sign. */
const MAX_ID = 2 ** 32 - 1

export function createSlots<V extends object>(maxId: number = MAX_ID): Slots<V> {
  let held = new Array<V | null>(FIRST_SIZE).fill(null)
  let ids = new Array<number>(FIRST_SIZE).fill(0)
  let size = 0
  let last = 0

  const placeOf = (id: number): number => id & (held.length - 1)
  const after = (id: number): number => (id === maxId ? 1 : id + 1)

  /** Doubles the places: two numbers that had a place each have one each in twice as many. */
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
      // Who stays long keeps its place: its number comes round again and again, and is left out.
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
