/**
 * Bookkeeping of the isolates of a worker: the tenant of each, and when each is disposed of. Pure. The host
 * makes all decisions, the worker only carries them out.
 *
 * An isolate serves one connector version and one isolate key (settings and credentials), never two: a module
 * variable would carry one tenant's data to another.
 */
export type IsolateLimits = {
  /**
   * Maximum number of isolates in a worker, running ones included. The least recently used idle ones are
   * removed first.
   */
  maxIsolates: number
  /** Calls after which a warm isolate is replaced. */
  maxCalls: number
  /** Age after which a warm isolate is replaced, in milliseconds. */
  maxAgeMs: number
  /**
   * Number of isolates that stay however long they are idle. Others are removed after `warmMs` milliseconds
   * without a call.
   */
  warmIsolates: number
  warmMs: number
}

/** Maximum number of isolates being disposed of in addition to those in use. */
const MAX_LEAVING = 8
/**
 * Interval between checks of an idle isolate in milliseconds: if it was used since the last one, and
 * otherwise.
 */
const CHECK_USED_MS = 1000
const CHECK_UNUSED_MS = 10_000
/** Maximum number of idle isolates removed in one check. Each disposal takes the worker a moment. */
const COOLED_AT_ONCE = 4

type Entry = {
  id: number
  key: string
  /** Digest of the connector. */
  connector: string
  running: number
  calls: number
  bornMs: number
  retiring: boolean
  /** Whether it had calls since the last check, and the time of that check. */
  used: boolean
  checkedMs: number
  /** End of its last call, in milliseconds. */
  idleSinceMs: number
}

/** The isolate for a call, or null if there is no room, and the isolates to dispose of. */
type Taken = { isolate: number | null; evicted: number[] }

type IsolateTable = {
  take(connector: string, isolateKey: string): Taken
  /** Reports whether this tenant has an isolate. */
  knows(connector: string, isolateKey: string): boolean
  /** Reports whether calls of this tenant are running. */
  isBusy(connector: string, isolateKey: string): boolean
  /** Number of isolates with running calls, of one connector or of all. */
  busy(connector?: string): number
  /** A call has ended. Returns true if its isolate must be disposed of now. */
  release(isolate: number): boolean
  /** Closes an isolate to new calls. Returns true if it is idle and can be disposed of now. */
  retire(isolate: number): boolean
  /**
   * Marks an isolate for immediate disposal, even with running calls. Returns false if it is not in the
   * table.
   */
  discard(isolate: number): boolean
  /** Removes a disposed isolate. */
  forget(isolate: number): void
  has(isolate: number): boolean
  /** Reports whether it has running calls that may continue. */
  serves(isolate: number): boolean
  /** Returns the idle isolates that are due for a check. */
  toCheck(): number[]
  /** Returns the idle isolates to dispose of now: unused for long, and more than enough remain. */
  cool(): number[]
  /** Digests of the connectors that have isolates. */
  connectors(): string[]
  readonly size: number
  /** Number of isolates, including those whose disposal is not confirmed. */
  readonly held: number
}

export function createIsolateTable(limits: IsolateLimits, now: () => number): IsolateTable {
  // Insertion order is the order of use: a taken entry is moved to the end.
  const current = new Map<string, Entry>()
  const byId = new Map<number, Entry>()
  /** Isolates whose disposal is not confirmed. They still use memory. */
  const leaving = new Set<number>()
  /** Most recently taken key. Its entry is already the last one. */
  let newest = ''
  let nextId = 1

  const keyOf = (connector: string, isolateKey: string) => `${connector} ${isolateKey}`

  const worn = (entry: Entry) =>
    entry.calls >= limits.maxCalls || now() - entry.bornMs >= limits.maxAgeMs

  const drop = (entry: Entry) => {
    byId.delete(entry.id)
    leaving.add(entry.id)
    if (current.get(entry.key) === entry) current.delete(entry.key)
  }

  function evict(): number[] {
    const evicted: number[] = []
    for (const entry of current.values()) {
      if (byId.size < limits.maxIsolates) break
      if (entry.running > 0) continue
      drop(entry)
      evicted.push(entry.id)
    }
    return evicted
  }

  /** Creates an isolate if there is room. */
  function make(key: string, connector: string): Entry | null {
    const { size } = byId
    if (size >= limits.maxIsolates || size + leaving.size >= limits.maxIsolates + MAX_LEAVING)
      return null
    const entry = {
      id: nextId,
      key,
      connector,
      running: 0,
      calls: 0,
      bornMs: now(),
      retiring: false,
      used: true,
      checkedMs: Number.NEGATIVE_INFINITY,
      idleSinceMs: now(),
    }
    nextId += 1
    byId.set(entry.id, entry)
    return entry
  }

  return {
    take(connector, isolateKey) {
      const key = keyOf(connector, isolateKey)
      const evicted: number[] = []
      let entry = current.get(key) ?? null
      if (entry && worn(entry)) {
        entry.retiring = true
        current.delete(key)
        if (entry.running === 0) {
          drop(entry)
          evicted.push(entry.id)
        }
        entry = null
      }
      if (entry === null) {
        evicted.push(...evict())
        entry = make(key, connector)
        if (entry === null) return { isolate: null, evicted }
      }
      if (key !== newest || !current.has(key)) {
        current.delete(key)
        current.set(key, entry)
        newest = key
      }
      entry.running += 1
      entry.calls += 1
      entry.used = true
      return { isolate: entry.id, evicted }
    },
    knows: (connector, isolateKey) => current.has(keyOf(connector, isolateKey)),
    isBusy: (connector, isolateKey) =>
      (current.get(keyOf(connector, isolateKey))?.running ?? 0) > 0,
    busy(connector) {
      let count = 0
      for (const entry of byId.values())
        if (entry.running > 0 && (connector === undefined || entry.connector === connector))
          count += 1
      return count
    },
    release(isolate) {
      const entry = byId.get(isolate)
      if (!entry) return false
      entry.running -= 1
      entry.idleSinceMs = now()
      if (!entry.retiring || entry.running > 0) return false
      drop(entry)
      return true
    },
    retire(isolate) {
      const entry = byId.get(isolate)
      if (!entry) return false
      entry.retiring = true
      if (current.get(entry.key) === entry) current.delete(entry.key)
      if (entry.running > 0) return false
      drop(entry)
      return true
    },
    discard(isolate) {
      const entry = byId.get(isolate)
      if (entry) drop(entry)
      return entry !== undefined
    },
    forget(isolate) {
      const entry = byId.get(isolate)
      if (entry) drop(entry)
      leaving.delete(isolate)
    },
    has: (isolate) => byId.has(isolate),
    serves(isolate) {
      const entry = byId.get(isolate)
      return entry !== undefined && entry.running > 0 && !entry.retiring
    },
    toCheck() {
      const due: number[] = []
      for (const entry of byId.values()) {
        const everyMs = entry.used ? CHECK_USED_MS : CHECK_UNUSED_MS
        if (entry.running > 0 || now() - entry.checkedMs < everyMs) continue
        entry.used = false
        entry.checkedMs = now()
        due.push(entry.id)
      }
      return due
    },
    cool() {
      const cooled: number[] = []
      // Least recently used first.
      for (const entry of current.values()) {
        if (byId.size <= limits.warmIsolates || cooled.length === COOLED_AT_ONCE) break
        if (entry.running > 0 || now() - entry.idleSinceMs < limits.warmMs) continue
        drop(entry)
        cooled.push(entry.id)
      }
      return cooled
    },
    connectors: () => [...new Set([...byId.values()].map(({ connector }) => connector))],
    get size() {
      return byId.size
    },
    get held() {
      return byId.size + leaving.size
    },
  }
}
