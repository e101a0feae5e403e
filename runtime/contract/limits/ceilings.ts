/**
 * What a connector may take: MANIFEST_LIMITS are what it wishes for, by `limits` of its manifest; CEILINGS are what an operator
 * bounds of that, and the settings that say it. The manifest's schema, the configuration and the pages read these.
 */

type LimitRow = {
  /** What a manifest gets that does not say. */
  default: number
  least: number
  /** What it bounds, for the page and for editors. */
  meaning: string
}

export const MANIFEST_LIMITS = {
  requests_per_second: {
    default: 50,
    least: 1,
    meaning: 'Requests to the third-party system per second and tenant; more of them wait',
  },
  concurrent_requests: {
    default: 4,
    least: 1,
    meaning: 'Requests to it that are open at once, per tenant; more of them wait',
  },
  concurrency: {
    default: 32,
    least: 1,
    meaning: 'Calls that run at once, per tenant; more of them wait',
  },
  deadline_ms: {
    default: 30_000,
    least: 100,
    meaning: 'How long one call may take, in milliseconds',
  },
  memory_mb: { default: 64, least: 16, meaning: 'Memory of one isolate, in MiB' },
} as const satisfies Record<string, LimitRow>

type CeilingRow = {
  /** The environment variable. */
  setting: string
  default: number
  /** The least and the most that an operator may set. */
  range: readonly [number, number]
  /** Of several processes of a host each has a share: else all of them together would have as often as much. */
  isShared: boolean
  /** What it bounds, for the page of settings. */
  meaning: string
}

export const CEILINGS = {
  maxDeadlineMs: {
    setting: 'KEYWAY_MAX_DEADLINE_MS',
    default: 120_000,
    range: [100, 3_600_000],
    isShared: false,
    meaning: 'ceiling of a call’s deadline, in milliseconds',
  },
  maxMemoryMb: {
    setting: 'KEYWAY_MAX_MEMORY_MB',
    default: 256,
    range: [16, 4096],
    isShared: false,
    meaning: 'ceiling of an isolate’s memory, in MiB',
  },
  maxConcurrency: {
    setting: 'KEYWAY_MAX_CONCURRENCY',
    default: 64,
    range: [1, 10_000],
    isShared: true,
    meaning: 'ceiling of calls in flight per tenant',
  },
  maxRequestsPerSecond: {
    setting: 'KEYWAY_MAX_REQUESTS_PER_SECOND',
    default: 100,
    range: [1, 100_000],
    isShared: true,
    meaning: 'ceiling of requests a second towards one upstream of one tenant',
  },
  maxPages: {
    setting: 'KEYWAY_MAX_PAGES',
    default: 100_000,
    range: [1, 1_000_000_000],
    isShared: false,
    meaning: 'most pages of one listing; a connector that goes on is refused',
  },
} as const satisfies Record<string, CeilingRow>

/** The ceilings of a host: they win over the manifest's wishes. */
export type Ceilings = Readonly<Record<keyof typeof CEILINGS, number>>
