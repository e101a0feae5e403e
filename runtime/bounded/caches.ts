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
    holds: 'answers to token refreshes, for equal refreshes a moment later',
    maxEntries: 2000,
    maxBytes: 16 * MIB,
    goodMs: 30_000,
    goes: 'the oldest; with a database the answer is found there for the rest of its time',
  },
  login_tokens: {
    holds: 'tokens and sessions of logins that the host performs',
    maxEntries: 10_000,
    maxBytes: 16 * MIB,
    goes: 'the least recently used one of the connector that holds most; its next call logs in again',
  },
  secret_searches: {
    holds: 'searches for the secrets of calls in what upstreams answer',
    maxEntries: 256,
    maxBytes: 8 * MIB,
    goodMs: 60_000,
    goes: 'the oldest; the next call with these secrets prepares its search again',
  },
  redactions: {
    holds: 'searches for the secrets of calls in what is recorded, logged or told of them',
    maxEntries: 256,
    maxBytes: 8 * MIB,
    goodMs: 60_000,
    goes: 'the oldest; the next call with these secrets prepares its search again',
  },
  judged_tenants: {
    holds: 'digests of credentials and settings that were judged, by connector version',
    maxEntries: 20_000,
    maxBytes: 8 * MIB,
    goes: 'the one that was not used longest; its next call is judged again',
  },
  heavy_capabilities: {
    holds: 'capabilities of connectors that compute for long, and until when they run on threads',
    maxEntries: 1000,
    maxBytes: 1 * MIB,
    goes: 'the least recently used one whose time is over; its next long call is found out again',
  },
  governors: {
    holds: 'the pace towards each upstream and tenant',
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
    holds: 'the order of filtered lists, by version of their tables',
    maxEntries: 64,
    maxBytes: 32 * MIB,
    goes: 'the list that was not asked for longest; it is read again',
  },
  list_counts: {
    holds: 'the totals of filtered lists, by version of their tables',
    maxEntries: 1000,
    maxBytes: 4 * MIB,
    goes: 'the total that was not asked for longest; it is counted again',
  },
  rate_windows: {
    holds: 'requests of this minute, by token or address',
    maxEntries: 10_000,
    maxBytes: 4 * MIB,
    goodMs: 60_000,
    goes: 'the oldest window; its owner begins a new one',
  },
  calls: {
    holds: 'the latest calls, for operators',
    maxEntries: 2000,
    maxBytes: 16 * MIB,
    goes: 'the oldest',
  },
  open_calls: {
    holds: 'requests and log lines of calls that have not ended',
    maxEntries: 5000,
    maxBytes: 16 * MIB,
    goes: 'those of the call that has been quiet longest; the call itself goes on',
  },
  standings: {
    holds: 'how connectors stand whose worker processes died',
    maxEntries: 1000,
    maxBytes: MIB,
    goes: 'the least recently touched one that is neither suspected nor in quarantine',
  },
  check_failures: {
    holds: 'checks of connectors that failed once',
    maxEntries: 1000,
    maxBytes: MIB,
    goes: 'the oldest; its check may fail once more',
  },
  source_maps: {
    holds: 'source maps of connectors that threw something',
    maxEntries: 256,
    maxBytes: 4 * MIB,
    goes: 'the least recently used; it is read again',
  },
  versions: {
    holds: 'versions of connectors, served and earlier ones',
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
    holds: 'warnings and errors that were logged lately, to count those that repeat themselves',
    maxEntries: 200,
    maxBytes: 4 * MIB,
    goes: 'the one that came least recently; what is counted of it is logged',
  },
} as const satisfies Record<string, CacheBounds>

export type CacheName = keyof typeof CACHES
