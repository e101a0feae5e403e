/** CEILINGS: what an operator bounds of what connectors wish for (`limits` of the manifest); the setting that says it. */

type CeilingRow = {
  /** The environment variable; its row in config/config.ts says what it may be. */
  setting: string
  default: number
  /** Of several processes of a host each has a share: else all of them together would have as often as much. */
  isShared: boolean
}

export const CEILINGS = {
  /** Of a call, in milliseconds. */
  maxDeadlineMs: { setting: 'KEYWAY_MAX_DEADLINE_MS', default: 120_000, isShared: false },
  /** Of an isolate, in MiB. */
  maxMemoryMb: { setting: 'KEYWAY_MAX_MEMORY_MB', default: 256, isShared: false },
  /** Calls of a tenant at once. */
  maxConcurrency: { setting: 'KEYWAY_MAX_CONCURRENCY', default: 64, isShared: true },
  /** Towards one upstream of one tenant. */
  maxRequestsPerSecond: {
    setting: 'KEYWAY_MAX_REQUESTS_PER_SECOND',
    default: 100,
    isShared: true,
  },
  /** Of one listing. */
  maxPages: { setting: 'KEYWAY_MAX_PAGES', default: 100_000, isShared: false },
} as const satisfies Record<string, CeilingRow>

/** The ceilings of a host: they win over the manifest's wishes. */
export type Ceilings = Readonly<Record<keyof typeof CEILINGS, number>>
