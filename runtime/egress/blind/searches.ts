/**
 * Cache of searches for the secrets of calls. Calls of one connection have the same secrets, and preparing a
 * search takes longer than most searches.
 */
import { hash } from 'node:crypto'
import { createCache } from '../../bounded/cache.ts'
import { bytesOfSearch, prepareSearch, type Search, type Sought } from '../../redact/text-search.ts'

/** Text to search for, also as Latin-1. */
export type SoughtBytes = Sought & { latin1: string }

/**
 * Prepares a search, or returns a cached one for the same texts with the same numbers. Run it with
 * `inSlices`.
 */
type Searches = (sought: readonly SoughtBytes[]) => Generator<void, Search>

/** Maximum size of texts whose search is cached, in bytes. */
const MAX_BYTES = 256 * 1024

export function createSearches(): Searches {
  const kept = createCache<Search>('secret_searches', { bytesOf: bytesOfSearch })
  return function* (sought) {
    // The digest is computed synchronously, so its input is bounded.
    const bytes = sought.reduce((sum, { latin1 }) => sum + latin1.length, 0)
    if (bytes > MAX_BYTES) return yield* prepareSearch(sought, { alone: true })
    const key = keyOf(sought)
    const known = kept.get(key)
    if (known !== undefined) return known
    const search = yield* prepareSearch(sought, { alone: true })
    kept.set(key, search)
    return search
  }
}

/** Returns a digest, so that an entry can be found only with the texts themselves. */
const keyOf = (sought: readonly SoughtBytes[]): string =>
  hash(
    'sha256',
    sought.map(({ number, latin1 }) => `${number} ${latin1.length} ${latin1}`).join(''),
    'base64',
  )
