/**
 * Ring buffer of the latest entries, with reused slots. A cache allocates several objects per entry, each of
 * which V8's collector copies twice before it promotes them. The ring allocates nothing per entry.
 */
import { CACHES, type CacheName } from './caches.ts'

type Ring<S> = {
  /**
   * Returns the slot for a new entry of the given size, to be filled. Evicts the oldest entries. Null if the
   * entry alone is too large.
   */
  take(bytes: number): S | null
  /** Entries, newest first. A slot is valid until the next entry is taken. */
  newest(): IterableIterator<S>
}

/**
 * Creates the ring of a row of caches.ts.
 *
 * @param make creates a slot; at most as many as the row's entries
 * @param empty releases the contents of a slot
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
