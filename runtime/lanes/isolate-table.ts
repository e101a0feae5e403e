/**
 * Which isolates a worker holds, which tenant each serves, and when each goes. Pure bookkeeping: the host
 * decides all of it, the worker only carries it out.
 *
 * An isolate serves one connector version and one isolate key (settings and credentials), never two:
 * a module variable would carry one tenant's data to another.
 */
export type IsolateLimits = {
  /** Most isolates in one worker, those that run included; idle ones go, least recently used first. */
  maxIsolates: number
  /** Calls after which a warm isolate is replaced. */
  maxCalls: number
  /** Age after which a warm isolate is replaced, in milliseconds. */
  maxAgeMs: number
  /** So many isolates stay however long they are idle; others go after `warmMs` without a call, in milliseconds. */
  warmIsolates: number
  warmMs: number
}

/** How many isolates may be on their way out beside those that are in use. */
const MAX_LEAVING = 8
/** How often an idle isolate is looked at, in milliseconds: after it was used, and otherwise. */
const CHECK_USED_MS = 1000
const CHECK_UNUSED_MS = 10_000
/** Most idle isolates that go at one look: the end of each takes the worker a moment. */
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
  /** Whether it had calls since it was looked at last, and when that was. */
  used: boolean
  checkedMs: number
  /** When its last call ended, in milliseconds. */
  idleSinceMs: number
}

/** The isolate for a call, or null while there is no room; and those to dispose of. */
type Taken = { isolate: number | null; evicted: number[] }

type IsolateTable = {
  take(connector: string, isolateKey: string): Taken
  /** True when this tenant has an isolate already. */
  knows(connector: string, isolateKey: string): boolean
  /** True when calls of this tenant run. */
  isBusy(connector: string, isolateKey: string): boolean
  /** Isolates in which calls run, of one connector or of all. */
  busy(connector?: string): number
  /** A call has ended; true when its isolate is to be disposed of now. */
  release(isolate: number): boolean
  /** No new calls for this isolate; true when it is idle and can go now. */
  retire(isolate: number): boolean
  /** The isolate is to be disposed of now, whatever runs in it; false when it is none of the table's. */
  discard(isolate: number): boolean
  /** The isolate is gone. */
  forget(isolate: number): void
  has(isolate: number): boolean
  /** True when calls run in it that may go on. */
  serves(isolate: number): boolean
  /** Idle isolates that are to be looked at now; each is told once in a while. */
  toCheck(): number[]
  /** Idle isolates that are to be disposed of now: nobody has used them for long, and there are many. */
  cool(): number[]
  /** Whose isolates there are. */
  connectors(): string[]
  readonly size: number
  /** Those included of whose end nobody has heard yet. */
  readonly held: number
}

export function createIsolateTable(limits: IsolateLimits, now: () => number): IsolateTable {
  // Insertion order is the order of use: an entry is put back at the end when taken.
  const current = new Map<string, Entry>()
  const byId = new Map<number, Entry>()
  /** Isolates that were let go and of whose end nobody has heard yet: they take memory still. */
  const leaving = new Set<number>()
  /** The key that was taken last: its entry is at the end already. */
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

  /** A new isolate, where there is room for one. */
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
      // Those that were used longest ago come first.
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
