/**
 * The latest entries of something, in slots that are used again. A cache keeps several young objects for each entry, and
 * V8's collector copies every one of them twice before it takes them for old; here nothing is allocated for an entry.
 */
import { CACHES, type CacheName } from './caches.ts'

type Ring<S> = {
  /** The slot of a new entry of so many bytes, to be filled; the oldest go for it. Null: alone it is too large. */
  take(bytes: number): S | null
  /** Newest first. A slot is good until the next entry is taken. */
  newest(): IterableIterator<S>
}

/**
 * Makes the ring of a row of caches.ts.
 *
 * @param make makes a slot; there are never more than the row's entries
 * @param empty lets go of what a slot holds
 */
export function createRing<S>(name: CacheName, make: () => S, empty: (slot: S) => void): Ring<S> {
  const { maxEntries, maxBytes } = CACHES[name]
  const slots: S[] = []
  const sizes = new Float64Array(maxEntries)
  let oldest = 0
  let count = 0
  let held = 0

  const at = (nth: number): number => (oldest + nth) % maxEntries

  function dropOldest(): void {
    const slot = slots[oldest]
    if (slot !== undefined) empty(slot)
    held -= sizes[oldest] ?? 0
    oldest = at(1)
    count -= 1
  }

  return {
    take(bytes) {
      if (bytes > maxBytes) return null
      while (count > 0 && (count === maxEntries || held + bytes > maxBytes)) dropOldest()
      const place = at(count)
      const slot = slots[place] ?? make()
      slots[place] = slot
      sizes[place] = bytes
      held += bytes
      count += 1
      return slot
    },
    *newest() {
      for (let nth = count - 1; nth >= 0; nth -= 1) {
        const slot = slots[at(nth)]
        if (slot !== undefined) yield slot
      }
    },
  }
}
