/**
 * How much one caller may do: one row each. The code takes its numbers from here, and the reference is made
 * of it. What connectors may use of the host is in ceilings.ts, what the host remembers in bounded/caches.ts.
 */
export type CallerLimit = {
  /** What is counted. */
  counts: string
  /** Whose it is counted for. */
  by: string
  /** How many; or the setting that says so. */
  most: number | `KEYWAY_${string}`
  /** Within which time, in milliseconds; without it, how many there may be at once. */
  perMs?: number
  /** `host`: every host counts for itself, so that several let through as many times more. */
  over: 'host' | 'database'
  /** What one more is answered. */
  answered: string
}

const MINUTE_MS = 60_000

export const CALLER_LIMITS = {
  core_requests: {
    counts: 'requests of the core interface',
    by: 'API token',
    most: 'KEYWAY_REQUESTS_PER_MINUTE',
    perMs: MINUTE_MS,
    over: 'host',
    answered:
      '429 with `retry-after`; every answer has `x-ratelimit-limit`, `-remaining`, `-reset`, and `-scope: host`',
  },
  scim_requests: {
    counts: 'requests of an identity provider to `/scim/v2`',
    by: 'SCIM token',
    most: 'KEYWAY_REQUESTS_PER_MINUTE',
    perMs: MINUTE_MS,
    over: 'host',
    answered: '429 with `retry-after`, in the form of SCIM',
  },
  live_scim_tokens: {
    counts: 'SCIM tokens that work',
    by: 'domain',
    most: 20,
    over: 'database',
    answered: '409, until one is revoked',
  },
  settings_forms: {
    counts: 'forms of the settings pages',
    by: 'user',
    most: 'KEYWAY_REQUESTS_PER_MINUTE',
    perMs: MINUTE_MS,
    over: 'host',
    answered: '429 with `retry-after`',
  },
  sign_in_tries: {
    counts: 'tries to sign in to the settings pages',
    by: 'address; of IPv6 the network of 64 bits',
    most: 20,
    perMs: MINUTE_MS,
    over: 'host',
    answered: '429 with `retry-after`',
  },
  followed_lists: {
    counts: 'lists that are followed (`accept: text/event-stream`)',
    by: 'user; 20 times as many in all',
    most: 5,
    over: 'host',
    answered: '429 with `retry-after`',
  },
  own_exports: {
    counts: 'times that a person has their own data given out',
    by: 'user',
    most: 10,
    perMs: 60 * MINUTE_MS,
    over: 'database',
    answered: '429 with `retry-after`',
  },
  live_tokens: {
    counts: 'API tokens that work',
    by: 'user',
    most: 100,
    over: 'database',
    answered: 'refused on the page, until one is revoked',
  },
  waiting_uploads: {
    counts: 'uploads that wait to be worked through',
    by: 'user',
    most: 100,
    over: 'database',
    answered: '429 with `retry-after`',
  },
  separation_rules: {
    counts: 'rules of separation of duties: each request is compared with all of them',
    by: 'domain',
    most: 500,
    over: 'database',
    answered: '409, until one is deleted',
  },
  delegations: {
    counts: 'delegations that have not ended',
    by: 'user',
    most: 20,
    over: 'database',
    answered: '409, until one is ended',
  },
  review_files: {
    counts: 'files of evidence',
    by: 'access review',
    most: 1000,
    over: 'database',
    answered: '409',
  },
  csv_lists: {
    counts: 'lists that are being sent as CSV',
    by: 'host: each holds a connection to the database',
    most: 4,
    over: 'host',
    answered: '429 with `retry-after`',
  },
  waiting_calls: {
    counts: 'calls of capabilities that wait for a turn',
    by: 'connector; the newest of the tenant with most goes',
    most: 256,
    over: 'host',
    answered: 'the error `rate_limit`',
  },
} as const satisfies Record<string, CallerLimit>
