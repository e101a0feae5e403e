/**
 * Cache of list queries on a host. Each costly answer is stored with the version of the tables that it was
 * read from (versions.ts). The same version implies the same answer, so the cache is never stale. At another
 * version, the answer is computed again.
 */

import { createCache } from '../../../bounded/cache.ts'
import type { CacheName } from '../../../bounded/caches.ts'

export type Remembered<T> = {
  /** Returns the answer at a version. Calls `find` if it is not cached. */
  at(key: string, version: string, find: () => Promise<T>): Promise<T>
  /** Returns the last answer, with its version. */
  last(key: string): Kept<T> | undefined
}

type Kept<T> = { version: string; answer: Promise<T>; bytes: number }

/** Creates a cache of answers. `bytesOf` returns the size of one. */
export function createRemembered<T>(
  name: CacheName,
  bytesOf: (answer: T) => number,
): Remembered<T> {
  const answers = createCache<Kept<T>>(name, {
    bytesOf: ({ version, bytes }) => 2 * version.length + bytes,
  })
  return {
    at(key, version, find) {
      const known = answers.get(key)
      if (known?.version === version) return known.answer
      // Store the promise at once, so that only the first of several simultaneous callers queries.
      const made = { version, answer: find(), bytes: 0 }
      answers.set(key, made)
      made.answer.then(
        (found) => {
          if (answers.get(key) === made) answers.set(key, { ...made, bytes: bytesOf(found) })
        },
        () => {
          if (answers.get(key) === made) answers.delete(key)
        },
      )
      return made.answer
    },
    last: (key) => answers.get(key),
  }
}
