/**
 * Limits on what one caller may do, one row each. The code and the reference read their numbers from here.
 * Limits on what connectors may use of the host are in ceilings.ts; limits on what the host caches are in
 * bounded/caches.ts.
 */
export type CallerLimit = {
  /** The counted thing. */
  counts: string
  /** The party that it is counted for. */
  by: string
  /** The limit, or the setting that holds it. */
  most: number | `KEYWAY_${string}`
  /** Time window in milliseconds; if absent, the limit applies to how many exist at once. */
  perMs?: number
  /** `host`: each host counts on its own, so several hosts together admit a multiple. */
  over: 'host' | 'database'
  /** Response once the limit is reached. */
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
      '429 with `retry-after`; every response has `x-ratelimit-limit`, `-remaining`, `-reset`, and `-scope: host`',
  },
  scim_requests: {
    counts: 'requests of an identity provider to `/scim/v2`',
    by: 'SCIM token',
    most: 'KEYWAY_REQUESTS_PER_MINUTE',
    perMs: MINUTE_MS,
    over: 'host',
    answered: '429 with `retry-after`, as a SCIM error',
  },
  live_scim_tokens: {
    counts: 'valid SCIM tokens',
    by: 'domain',
    most: 20,
    over: 'database',
    answered: '409, until one is revoked',
  },
  settings_forms: {
    counts: 'forms sent from the settings pages',
    by: 'user',
    most: 'KEYWAY_REQUESTS_PER_MINUTE',
    perMs: MINUTE_MS,
    over: 'host',
    answered: '429 with `retry-after`',
  },
  sign_in_tries: {
    counts: 'attempts to sign in to the settings pages',
    by: 'address; for IPv6 the /64 network',
    most: 20,
    perMs: MINUTE_MS,
    over: 'host',
    answered: '429 with `retry-after`',
  },
  followed_lists: {
    counts: 'followed lists (`accept: text/event-stream`)',
    by: 'user; 20 times that number in total',
    most: 5,
    over: 'host',
    answered: '429 with `retry-after`',
  },
  own_exports: {
    counts: 'exports of a person’s own data',
    by: 'user',
    most: 10,
    perMs: 60 * MINUTE_MS,
    over: 'database',
    answered: '429 with `retry-after`',
  },
  live_tokens: {
    counts: 'valid API tokens',
    by: 'user',
    most: 100,
    over: 'database',
    answered: 'refused on the page, until one is revoked',
  },
  waiting_uploads: {
    counts: 'uploads that wait to be processed',
    by: 'user',
    most: 100,
    over: 'database',
    answered: '429 with `retry-after`',
  },
  separation_rules: {
    counts: 'rules of separation of duties; each request is compared with all of them',
    by: 'domain',
    most: 500,
    over: 'database',
    answered: '409, until one is deleted',
  },
  delegations: {
    counts: 'active and future delegations',
    by: 'user',
    most: 20,
    over: 'database',
    answered: '409, until one is ended',
  },
  review_files: {
    counts: 'evidence files',
    by: 'access review',
    most: 1000,
    over: 'database',
    answered: '409',
  },
  csv_lists: {
    counts: 'lists being sent as CSV',
    by: 'host; each list holds a connection to the database',
    most: 4,
    over: 'host',
    answered: '429 with `retry-after`',
  },
  waiting_calls: {
    counts: 'calls of capabilities that wait for a slot',
    by: 'connector; over the limit, the newest call of the tenant with the most is refused',
    most: 256,
    over: 'host',
    answered: 'the error `rate_limit`',
  },
} as const satisfies Record<string, CallerLimit>
