/**
 * Capabilities of connectors that compute for long. Their calls run on threads of their own in the worker, not on its
 * main thread. A mark that follows soon after the previous one has ended lasts twice as long. Per host, never stored.
 */
import { createCache } from '../bounded/cache.ts'

/**
 * First and maximum duration of a mark, in milliseconds. A mark is remembered for `forgetMs` after it ends.
 */
export const HEAVY_LIMITS = { firstMs: 2000, longestMs: 600_000, forgetMs: 60_000 } as const

/** Memory of an entry, in bytes. */
const ENTRY_BYTES = 256

type Mark = { untilMs: number; forMs: number }

export type HeavyBook = {
  /**
   * Marks a capability whose call used too much of a worker's main thread; null marks all capabilities of the
   * connector.
   */
  mark(connector: string, capability: string | null): void
  has(connector: string, capability: string): boolean
}

/** Creates the book. `connector` is a digest. */
export function createHeavyBook(now: () => number = Date.now): HeavyBook {
  const { firstMs, longestMs, forgetMs } = HEAVY_LIMITS
  const marks = createCache<Mark>('heavy_capabilities', {
    bytesOf: () => ENTRY_BYTES,
    isBusy: ({ untilMs }) => untilMs > now(),
  })
  const keyOf = (connector: string, capability: string | null) =>
    `${connector} ${capability ?? '*'}`

  function isMarked(connector: string, capability: string | null): boolean {
    const known = marks.get(keyOf(connector, capability))
    return known !== undefined && known.untilMs > now()
  }

  return {
    mark(connector, capability) {
      const key = keyOf(connector, capability)
      const known = marks.get(key)
      if (known && known.untilMs > now()) return
      const isSoon = known !== undefined && now() < known.untilMs + Math.max(forgetMs, known.forMs)
      const forMs = isSoon ? Math.min(longestMs, known.forMs * 2) : firstMs
      marks.set(key, { untilMs: now() + forMs, forMs })
    },
    has: (connector, capability) =>
      marks.entries > 0 && (isMarked(connector, capability) || isMarked(connector, null)),
  }
}
