/**
 * How each connector stands after workers have died. When a shared worker dies, guilt cannot be read off:
 * all that sat in it are suspects and run alone for a while. Who dies alone is guilty; who keeps doing so
 * is in quarantine, until it is released or a pause has passed. Per host, never stored.
 */
import { createCache } from '../bounded/cache.ts'

type QuarantineLimits = {
  /** How long a suspect runs alone, in milliseconds; doubled each time it is one again. */
  aloneMs: number
  /** Deaths alone, within `memoryMs`, that lead to quarantine. */
  maxDeaths: number
  /** How long a death alone is remembered, in milliseconds. */
  memoryMs: number
  /** First and longest quarantine, in milliseconds; doubled each time. */
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

/** `clear` is not reported; the others are, as text for people. */
type Standing =
  | { state: 'clear' }
  | { state: 'suspect'; untilMs: number; reason: string }
  | { state: 'quarantined'; untilMs: number; reason: string }

export type QuarantineBook = {
  /** A worker died in which these connectors sat. */
  died(connectors: readonly string[]): void
  of(connector: string): Standing
  /** Whether it may not share a worker now. */
  alone(connector: string): boolean
  /** Forgets everything about a connector; false when nothing was known. */
  release(connector: string): boolean
  /** Connectors in each state, for the metrics. */
  count(state: 'suspect' | 'quarantined'): number
}

type Entry = {
  connector: string
  suspicions: number
  aloneUntilMs: number
  /** Moments of its deaths alone. */
  deaths: number[]
  quarantines: number
  quarantinedUntilMs: number
}

/** What an entry takes in memory, with as many deaths as are remembered, in bytes. */
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

  const convict = (entry: Entry) => {
    runAlone(entry)
    entry.deaths = [...entry.deaths.filter((at) => now() - at < limits.memoryMs), now()]
    if (entry.deaths.length < limits.maxDeaths) return
    const forMs = limits.quarantineMs * 2 ** Math.min(10, entry.quarantines)
    entry.quarantinedUntilMs = now() + Math.min(limits.maxQuarantineMs, forMs)
    entry.quarantines += 1
    onQuarantined(entry.connector)
    // What it did before is paid for; the next time is quick to show, and lasts longer.
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
      if (only !== undefined && connectors.length === 1) return convict(entryOf(only))
      for (const connector of connectors) runAlone(entryOf(connector))
    },
    of,
    alone: (connector) => of(connector).state !== 'clear',
    release: (connector) => entries.delete(connector),
    count: (state) =>
      [...entries.values()].filter(({ connector }) => of(connector).state === state).length,
  }
}
