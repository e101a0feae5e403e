/**
 * Which isolates a worker holds, whom each serves, and when each goes. Pure bookkeeping: the host
 * decides all of it, the worker only carries it out.
 *
 * An isolate serves one connector version and one isolate key (settings and credentials), never two:
 * a module variable would carry one tenant's data to another.
 */
export type IsolateLimits = {
  /** Warm isolates kept in one worker; the least recently used go first. */
  maxIsolates: number
  /** Calls after which a warm isolate is replaced. */
  maxCalls: number
  /** Age after which a warm isolate is replaced, in milliseconds. */
  maxAgeMs: number
}

type Entry = {
  id: number
  key: string
  running: number
  calls: number
  bornMs: number
  retiring: boolean
}

export type IsolateTable = {
  /** The isolate for a call, and those to dispose of to make room. */
  take(connector: string, isolateKey: string): { isolate: number; evicted: number[] }
  /** A call has ended; true when its isolate is to be disposed of now. */
  release(isolate: number): boolean
  /** No new calls for this isolate; true when it is idle and can go now. */
  retire(isolate: number): boolean
  /** The isolate is gone. */
  forget(isolate: number): void
  has(isolate: number): boolean
  readonly size: number
}

export function createIsolateTable(limits: IsolateLimits, now: () => number): IsolateTable {
  // Insertion order is the order of use: an entry is put back at the end when taken.
  const current = new Map<string, Entry>()
  const byId = new Map<number, Entry>()
  let nextId = 1

  const worn = (entry: Entry) =>
    entry.calls >= limits.maxCalls || now() - entry.bornMs >= limits.maxAgeMs

  const drop = (entry: Entry) => {
    byId.delete(entry.id)
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

  return {
    take(connector, isolateKey) {
      const key = `${connector} ${isolateKey}`
      const evicted: number[] = []
      let entry = current.get(key)
      if (entry && worn(entry)) {
        entry.retiring = true
        current.delete(key)
        if (entry.running === 0) {
          drop(entry)
          evicted.push(entry.id)
        }
        entry = undefined
      }
      if (!entry) {
        evicted.push(...evict())
        entry = { id: nextId, key, running: 0, calls: 0, bornMs: now(), retiring: false }
        nextId += 1
        byId.set(entry.id, entry)
      }
      current.delete(key)
      current.set(key, entry)
      entry.running += 1
      entry.calls += 1
      return { isolate: entry.id, evicted }
    },
    release(isolate) {
      const entry = byId.get(isolate)
      if (!entry) return false
      entry.running -= 1
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
    forget(isolate) {
      const entry = byId.get(isolate)
      if (entry) drop(entry)
    },
    has: (isolate) => byId.has(isolate),
    get size() {
      return byId.size
    },
  }
}
