/**
 * State of each connector after deaths of workers. When a shared worker dies, the guilty connector is not
 * known: all connectors in it become suspects and run alone for a time. A connector that dies alone is
 * guilty. If it keeps dying, it is quarantined until it is released or a pause has passed. Per host, never
 * stored.
 */
import { createCache } from '../bounded/cache.ts'

type QuarantineLimits = {
  /** How long a suspect runs alone, in milliseconds. Doubled each time it is suspected again. */
  aloneMs: number
  /** Number of deaths alone within `memoryMs` that lead to quarantine. */
  maxDeaths: number
  /** How long a death alone is remembered, in milliseconds. */
  memoryMs: number
  /** First and maximum quarantine, in milliseconds. Doubled each time. */
  quarantineMs: number
  maxQuarantineMs: number
}

export const QUARANTINE_LIMITS: QuarantineLimits = {
  aloneMs: 60_000,
  maxDeaths: 8,
  memoryMs: 300_000,
  quarantineMs: 60_000,
  maxQuarantineMs: 3_600_000,
}

/** `clear` is not reported. The others have a text for people. */
type Standing =
  | { state: 'clear' }
  | { state: 'suspect'; untilMs: number; reason: string }
  | { state: 'quarantined'; untilMs: number; reason: string }

export type QuarantineBook = {
  /** A worker with these connectors has died. */
  died(connectors: readonly string[]): void
  of(connector: string): Standing
  /** Reports whether it must not share a worker now. */
  alone(connector: string): boolean
  /** Forgets everything about a connector. Returns false if nothing was known. */
  release(connector: string): boolean
  /** Number of connectors in a state, for the metrics. */
  count(state: 'suspect' | 'quarantined'): number
}

type Entry = {
  connector: string
  suspicions: number
  aloneUntilMs: number
  /** Times of its deaths alone. */
  deaths: number[]
  quarantines: number
  quarantinedUntilMs: number
}

/** Memory of an entry with the maximum number of deaths, in bytes. */
const ENTRY_BYTES = 512

export function createQuarantineBook(
  now: () => number = Date.now,
  limits: QuarantineLimits = QUARANTINE_LIMITS,
  onQuarantined: (connector: string) => void = () => {},
): QuarantineBook {
  const entries = createCache<Entry>('standings', {
    bytesOf: () => ENTRY_BYTES,
    isBusy: ({ aloneUntilMs, quarantinedUntilMs }) =>
      Math.max(aloneUntilMs, quarantinedUntilMs) > now(),
  })

  const entryOf = (connector: string): Entry => {
    const known = entries.get(connector)
    if (known) return known
    const made: Entry = {
      connector,
      suspicions: 0,
      aloneUntilMs: 0,
      deaths: [],
      quarantines: 0,
      quarantinedUntilMs: 0,
    }
    entries.set(connector, made)
    return made
  }

  const runAlone = (entry: Entry) => {
    entry.suspicions += 1
    const forMs = limits.aloneMs * 2 ** Math.min(10, entry.suspicions - 1)
    entry.aloneUntilMs = now() + forMs
  }

  const recordDeath = (entry: Entry) => {
    runAlone(entry)
    entry.deaths = [...entry.deaths.filter((at) => now() - at < limits.memoryMs), now()]
    if (entry.deaths.length < limits.maxDeaths) return
    const forMs = limits.quarantineMs * 2 ** Math.min(10, entry.quarantines)
    entry.quarantinedUntilMs = now() + Math.min(limits.maxQuarantineMs, forMs)
    entry.quarantines += 1
    onQuarantined(entry.connector)
    // Earlier deaths are partly forgotten. The next quarantine comes sooner and lasts longer.
    entry.deaths = entry.deaths.slice(-Math.floor(limits.maxDeaths / 2))
  }

  function of(connector: string): Standing {
    const entry = entries.get(connector)
    if (!entry) return { state: 'clear' }
    if (entry.quarantinedUntilMs > now()) {
      const untilMs = entry.quarantinedUntilMs
      return {
        state: 'quarantined',
        untilMs,
        reason: `its worker process kept dying; no calls until ${new Date(untilMs).toISOString()}, or until it is released`,
      }
    }
    if (entry.aloneUntilMs > now()) {
      const untilMs = entry.aloneUntilMs
      return {
        state: 'suspect',
        untilMs,
        reason: `a worker process died in which it ran; it runs alone until ${new Date(untilMs).toISOString()}`,
      }
    }
    return { state: 'clear' }
  }

  return {
    died(connectors) {
      const [only] = connectors
      if (only !== undefined && connectors.length === 1) return recordDeath(entryOf(only))
      for (const connector of connectors) runAlone(entryOf(connector))
    },
    of,
    alone: (connector) => of(connector).state !== 'clear',
    release: (connector) => entries.delete(connector),
    count: (state) =>
      [...entries.values()].filter(({ connector }) => of(connector).state === state).length,
  }
}
