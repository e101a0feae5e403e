/** The one bounded map of the host: made from a row of caches.ts, which it cannot outgrow. */
import { CACHES, type CacheBounds, type CacheName } from './caches.ts'

type Cache<V> = {
  /** The value, which counts as used now; undefined where there is none that is good. */
  get(key: string): V | undefined
  /** Keeps a value as the newest, and lets others go for it. One that alone is too large is not kept. */
  set(key: string, value: V): void
  delete(key: string): boolean
  /** Lets all go. */
  clear(): void
  /** Oldest first. */
  values(): IterableIterator<V>
  readonly entries: number
  readonly bytes: number
}

type CacheMeans<V> = {
  /** How much a value holds, without its key. */
  bytesOf(value: V): number
  /** Whether a value may not go now; there are never more of these than calls in flight, or than is served. */
  isBusy?(value: V, key: string): boolean
  /** Who shares the cache: if one has to go, it is one of the owner that holds most. */
  groupOf?(key: string): string
  /** Called with what went because the cache was full, or was no longer good. */
  onGone?(value: V): void
  now?(): number
}

type Entry<V> = { value: V; bytes: number; untilMs: number }

/** What an entry costs without its key and value, in bytes. */
const ENTRY_BYTES = 96
/** Pause between two looks for entries that are no longer good, at least, in milliseconds. */
const SWEEP_MS = 1000
/** Busy entries that are passed over for one that has to go: each counts as used then. */
const MAX_PASSED = 64

export function createCache<V>(name: CacheName, means: CacheMeans<V>): Cache<V> {
  const { bytesOf, isBusy = () => false, groupOf, onGone, now = Date.now } = means
  const { maxEntries, maxBytes, goodMs }: CacheBounds = CACHES[name]
  const kept = new Map<string, Entry<V>>()
  const heldBy = new Map<string, number>()
  let bytes = 0
  /** The key that was used last: its entry is at the end already. */
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

  /** With a time that entries are good for, the oldest ends first: reading does not make one younger. */
  function letOldGo(): void {
    if (goodMs === undefined) return
    const nowMs = now()
    for (const [key, { untilMs }] of kept) {
      if (untilMs > nowMs) return
      letGo(key)
    }
  }

  /** Secrets are held only while they are good, also when nobody asks any more. */
  function sweepLater(): void {
    const [oldest] = kept.values()
    if (goodMs === undefined || sweep !== null || oldest === undefined) return
    // No longer than an entry is good, also where the clock was set back.
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

  /** Lets the oldest ones go that may, until the rest fits. */
  function makePlace(added: string, mayGo: (key: string) => boolean): void {
    let passed = 0
    for (const [key, entry] of kept) {
      if (!isOver() || passed === MAX_PASSED) return
      if (key === added || !mayGo(key)) continue
      if (!isBusy(entry.value, key)) {
        letGo(key)
        continue
      }
      // Used, so it is not the oldest; what comes next passes over others.
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
