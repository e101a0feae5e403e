/**
 * Resource limits of a connector. MANIFEST_LIMITS are the limits that a manifest may request under `limits`.
 * CEILINGS are the upper bounds that an operator sets, with their settings. The manifest's schema, the
 * configuration and the pages read both.
 */

type LimitRow = {
  /** Value if the manifest states none. */
  default: number
  least: number
  /** What it limits, for the page and for editors. */
  meaning: string
}

export const MANIFEST_LIMITS = {
  requests_per_second: {
    default: 50,
    least: 1,
    meaning: 'Requests to the third-party system per second and tenant; further ones wait',
  },
  concurrent_requests: {
    default: 4,
    least: 1,
    meaning: 'Requests to the third-party system open at once, per tenant; further ones wait',
  },
  concurrency: {
    default: 32,
    least: 1,
    meaning: 'Calls that run at once, per tenant; further ones wait',
  },
  deadline_ms: {
    default: 30_000,
    least: 100,
    meaning: 'Deadline of one call, in milliseconds',
  },
  memory_mb: { default: 64, least: 16, meaning: 'Memory limit of one isolate, in MiB' },
} as const satisfies Record<string, LimitRow>

type CeilingRow = {
  /** The environment variable. */
  setting: string
  default: number
  /** Smallest and largest value that an operator may set. */
  range: readonly [number, number]
  /**
   * Whether the processes of a host divide the value. Otherwise all of them together would allow a multiple
   * of it.
   */
  isShared: boolean
  /** What it limits, for the settings page. */
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
    meaning: 'ceiling of requests per second to one upstream of one tenant',
  },
  maxPages: {
    setting: 'KEYWAY_MAX_PAGES',
    default: 100_000,
    range: [1, 1_000_000_000],
    isShared: false,
    meaning: 'maximum number of pages of one listing; a connector that returns more is refused',
  },
} as const satisfies Record<string, CeilingRow>

/** The ceilings of a host. They override the limits that a manifest requests. */
export type Ceilings = Readonly<Record<keyof typeof CEILINGS, number>>
