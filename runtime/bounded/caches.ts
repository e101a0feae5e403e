/**
 * All data that a host keeps in memory and that grows with its requests: one row per cache, with its bounds.
 * The caches are created from these rows (cache.ts). A cache without a row here does not exist.
 *
 * Other memory is bounded by what is installed (served versions, their routes, documents and lanes) or by the
 * calls in flight (slots, lookups, budgets, open requests).
 */
export type CacheBounds = {
  /** Contents of the cache. */
  holds: string
  maxEntries: number
  /** Maximum size of keys and values together, in bytes as counted by the cache's owner. */
  maxBytes: number
  /** Lifetime of an entry in milliseconds. Without it, entries are valid until they are evicted. */
  goodMs?: number
  /** Which entry is evicted when the cache is full, and what that costs. */
  goes: string
}

const KIB = 1024
const MIB = 1024 * KIB

export const CACHES = {
  shared_answers: {
    holds: 'answers to token refreshes, for identical refreshes shortly after',
    maxEntries: 2000,
    maxBytes: 16 * MIB,
    goodMs: 30_000,
    goes: 'the oldest; with a database the answer stays there until it expires',
  },
  login_tokens: {
    holds: 'tokens and sessions of logins that the host performs',
    maxEntries: 10_000,
    maxBytes: 16 * MIB,
    goes: 'the least recently used one of the connector with the most; its next call logs in again',
  },
  secret_searches: {
    holds: 'prepared searches for the secrets of calls in upstream answers',
    maxEntries: 256,
    maxBytes: 8 * MIB,
    goodMs: 60_000,
    goes: 'the oldest; the next call with these secrets prepares its search again',
  },
  redactions: {
    holds: 'prepared searches for the secrets of calls in records, logs and messages',
    maxEntries: 256,
    maxBytes: 8 * MIB,
    goodMs: 60_000,
    goes: 'the oldest; the next call with these secrets prepares its search again',
  },
  judged_tenants: {
    holds: 'digests of checked credentials and settings, by connector version',
    maxEntries: 20_000,
    maxBytes: 8 * MIB,
    goes: 'the least recently used; its next call is checked again',
  },
  heavy_capabilities: {
    holds: 'connector capabilities with long computations, and until when they run on threads',
    maxEntries: 1000,
    maxBytes: 1 * MIB,
    goes: 'the least recently used one that has expired; its next long call is detected again',
  },
  governors: {
    holds: 'request rate for each upstream and tenant',
    maxEntries: 10_000,
    maxBytes: 16 * MIB,
    goes: 'the least recently used one that no request waits for; it starts with a full allowance again',
  },
  connections: {
    holds: 'connections to upstreams, by connector',
    maxEntries: 256,
    maxBytes: 16 * MIB,
    goes: 'those of the connector that was used least recently, after their open requests',
  },
  list_ids: {
    holds: 'order of filtered lists, by version of their tables',
    maxEntries: 64,
    maxBytes: 32 * MIB,
    goes: 'the least recently used; it is read again',
  },
  list_counts: {
    holds: 'totals of filtered lists, by version of their tables',
    maxEntries: 1000,
    maxBytes: 4 * MIB,
    goes: 'the least recently used; it is counted again',
  },
  rate_windows: {
    holds: 'requests of this minute, by token or address',
    maxEntries: 10_000,
    maxBytes: 4 * MIB,
    goodMs: 60_000,
    goes: 'the oldest window; its owner starts a new one',
  },
  calls: {
    holds: 'the latest calls, for operators',
    maxEntries: 2000,
    maxBytes: 16 * MIB,
    goes: 'the oldest',
  },
  open_calls: {
    holds: 'requests and log lines of running calls',
    maxEntries: 5000,
    maxBytes: 16 * MIB,
    goes: 'those of the call that has been quiet longest; the call itself goes on',
  },
  standings: {
    holds: 'standing of connectors whose worker processes died',
    maxEntries: 1000,
    maxBytes: MIB,
    goes: 'the least recently touched one that is neither suspected nor in quarantine',
  },
  check_failures: {
    holds: 'connector checks that failed once',
    maxEntries: 1000,
    maxBytes: MIB,
    goes: 'the oldest; its check may fail once more',
  },
  source_maps: {
    holds: 'source maps of connectors that threw an error',
    maxEntries: 256,
    maxBytes: 4 * MIB,
    goes: 'the least recently used; it is read again',
  },
  versions: {
    holds: 'connector versions, served and earlier ones',
    maxEntries: 1000,
    maxBytes: 64 * MIB,
    goes: 'the oldest that is not served; it is read again from the disk',
  },
  connector_code: {
    holds: 'code of connectors, for workers that start',
    maxEntries: 1000,
    maxBytes: 64 * MIB,
    goes: 'the least recently used; it is read again from the disk',
  },
  log_lines: {
    holds: 'recent warnings and errors, to count repetitions',
    maxEntries: 200,
    maxBytes: 4 * MIB,
    goes: 'the least recent; its count is logged',
  },
} as const satisfies Record<string, CacheBounds>

export type CacheName = keyof typeof CACHES
