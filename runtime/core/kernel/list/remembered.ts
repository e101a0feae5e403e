/**
 * What a host remembers of lists: answers that are costly to find again, each with the version of the
 * tables that it was read from (versions.ts). At the same version the answer is the same, so this is never
 * stale; at another one it is found again.
 */

import { createCache } from '../../../bounded/cache.ts'
import type { CacheName } from '../../../bounded/caches.ts'

export type Remembered<T> = {
  /** The answer at a version, found where it is not known. */
  at(key: string, version: string, find: () => Promise<T>): Promise<T>
  /** The answer that was given last, and the version that it is of. */
  last(key: string): Kept<T> | undefined
}

type Kept<T> = { version: string; answer: Promise<T>; bytes: number }

/** Remembers answers; `bytesOf` is how much one holds. */
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
      // Kept before it is found: of many who ask at once, one looks.
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
