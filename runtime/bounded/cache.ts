/** Bounded map of the host, created from a row of caches.ts. It cannot exceed the bounds of its row. */
import { CACHES, type CacheBounds, type CacheName } from './caches.ts'

type Cache<V> = {
  /** Returns the value and marks it as most recently used, or undefined if there is no valid one. */
  get(key: string): V | undefined
  /**
   * Stores a value as the most recent one and evicts others to make room. A value that alone exceeds the
   * bounds is not stored.
   */
  set(key: string, value: V): void
  delete(key: string): boolean
  /** Removes all entries. */
  clear(): void
  /** Values, oldest first. */
  values(): IterableIterator<V>
  readonly entries: number
  readonly bytes: number
}

type CacheOptions<V> = {
  /** Returns the size of a value in bytes, without its key. */
  bytesOf(value: V): number
  /**
   * Reports whether a value must not be evicted now. There are never more such values than calls in flight or
   * served versions.
   */
  isBusy?(value: V, key: string): boolean
  /** Owner of an entry. If an entry must be evicted, it is one of the owner that holds most. */
  groupOf?(key: string): string
  /** Called with each value that was evicted or has expired. */
  onGone?(value: V): void
  now?(): number
}

type Entry<V> = { value: V; bytes: number; untilMs: number }

/** Overhead of an entry in bytes, without its key and value. */
const ENTRY_BYTES = 96
/** Minimum interval between two sweeps for expired entries, in milliseconds. */
const SWEEP_MS = 1000
/**
 * Maximum number of busy entries that are skipped when one must be evicted. Each skipped entry counts as
 * used.
 */
const MAX_PASSED = 64

export function createCache<V>(name: CacheName, deps: CacheOptions<V>): Cache<V> {
  const { bytesOf, isBusy = () => false, groupOf, onGone, now = Date.now } = deps
  const { maxEntries, maxBytes, goodMs }: CacheBounds = CACHES[name]
  const kept = new Map<string, Entry<V>>()
  const heldBy = new Map<string, number>()
  let bytes = 0
  /** Most recently used key. Its entry is already the last one. */
  let newest: string | null = null
  let sweep: NodeJS.Timeout | null = null

  function count(key: string, by: number): void {
    bytes += by
    if (groupOf === undefined) return
    const group = groupOf(key)
    const held = (heldBy.get(group) ?? 0) + by
    if (held === 0) heldBy.delete(group)
    else heldBy.set(group, held)
  }

  function drop(key: string): Entry<V> | undefined {
    const entry = kept.get(key)
    if (entry === undefined) return undefined
    kept.delete(key)
    count(key, -entry.bytes)
    return entry
  }

  function letGo(key: string): void {
    const entry = drop(key)
    if (entry !== undefined) onGone?.(entry.value)
  }

  /**
   * Evicts expired entries. If entries expire, the oldest one expires first: reading does not extend the
   * lifetime.
   */
  function letOldGo(): void {
    if (goodMs === undefined) return
    const nowMs = now()
    for (const [key, { untilMs }] of kept) {
      if (untilMs > nowMs) return
      letGo(key)
    }
  }

  /** Schedules a sweep. Secrets are dropped when they expire, even if the cache is no longer used. */
  function sweepLater(): void {
    const [oldest] = kept.values()
    if (goodMs === undefined || sweep !== null || oldest === undefined) return
    // At most one lifetime, even if the clock was set back.
    const waitMs = Math.min(oldest.untilMs - now(), goodMs)
    sweep = setTimeout(
      () => {
        sweep = null
        letOldGo()
        sweepLater()
      },
      Math.max(waitMs, SWEEP_MS),
    )
    sweep.unref()
  }

  const isOver = () => kept.size > maxEntries || bytes > maxBytes

  /** Evicts the oldest entries that may be evicted, until the rest fits. */
  function makePlace(added: string, mayGo: (key: string) => boolean): void {
    let passed = 0
    for (const [key, entry] of kept) {
      if (!isOver() || passed === MAX_PASSED) return
      if (key === added || !mayGo(key)) continue
      if (!isBusy(entry.value, key)) {
        letGo(key)
        continue
      }
      // It counts as used, so the next search skips other entries.
      newest = key
      kept.delete(key)
      kept.set(key, entry)
      passed += 1
    }
  }

  const largestGroup = (): string => {
    let [largest, most] = ['', 0]
    for (const [group, held] of heldBy) if (held > most) [largest, most] = [group, held]
    return largest
  }

  return {
    get(key) {
      const entry = kept.get(key)
      if (entry === undefined) return undefined
      if (goodMs === undefined) {
        if (key === newest) return entry.value
        newest = key
        kept.delete(key)
        kept.set(key, entry)
      } else if (entry.untilMs <= now()) {
        letGo(key)
        return undefined
      }
      return entry.value
    },
    set(key, value) {
      drop(key)
      letOldGo()
      const size = ENTRY_BYTES + 2 * key.length + bytesOf(value)
      if (size > maxBytes) return onGone?.(value)
      newest = key
      kept.set(key, { value, bytes: size, untilMs: now() + (goodMs ?? 0) })
      count(key, size)
      if (isOver() && groupOf !== undefined) {
        const group = largestGroup()
        makePlace(key, (one) => groupOf(one) === group)
      }
      if (isOver()) makePlace(key, () => true)
      sweepLater()
    },
    delete: (key) => drop(key) !== undefined,
    clear() {
      kept.clear()
      heldBy.clear()
      bytes = 0
    },
    *values() {
      for (const { value } of kept.values()) yield value
    },
    get entries() {
      return kept.size
    },
    get bytes() {
      return bytes
    },
  }
}
