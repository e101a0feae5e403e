/** Searches for the secrets of calls: calls of one connection have the same ones, and preparing takes longer than most searches. */
import { hash } from 'node:crypto'
import { createCache } from '../../bounded/cache.ts'
import { bytesOfSearch, prepareSearch, type Search, type Sought } from '../../redact/text-search.ts'

/** A text that is sought, and the same as Latin-1. */
export type SoughtBytes = Sought & { latin1: string }

/** Prepares a search, or finds one for the same texts under the same numbers; run it with `inSlices`. */
type Searches = (sought: readonly SoughtBytes[]) => Generator<void, Search>

/** Of texts whose search is kept. */
const MOST_BYTES = 256 * 1024

export function createSearches(): Searches {
  const kept = createCache<Search>('secret_searches', { bytesOf: bytesOfSearch })
  return function* (sought) {
    // Digests are made in one go.
    const bytes = sought.reduce((sum, { latin1 }) => sum + latin1.length, 0)
    if (bytes > MOST_BYTES) return yield* prepareSearch(sought, { alone: true })
    const key = keyOf(sought)
    const known = kept.get(key)
    if (known !== undefined) return known
    const search = yield* prepareSearch(sought, { alone: true })
    kept.set(key, search)
    return search
  }
}

/** A digest: what is kept is found by nobody who does not have the texts. */
const keyOf = (sought: readonly SoughtBytes[]): string =>
  hash(
    'sha256',
    sought.map(({ number, latin1 }) => `${number} ${latin1.length} ${latin1}`).join(''),
    'base64',
  )
