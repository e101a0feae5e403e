/** Tokens of exchanges, for all calls of the process. Each tenant has at most one exchange in progress. */
import { createCache } from '../../bounded/cache.ts'
import type { Manifest } from '../../contract/connector/manifest.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { Token } from '../call/call.ts'
import { orAborted } from './or-aborted.ts'

export type Tokens = {
  /** Returns the kept token, or the one that `make` returns. Concurrent callers wait for the same one. */
  get(
    manifest: Manifest,
    key: string,
    make: () => Promise<Token>,
    signal: AbortSignal,
  ): Promise<Token>
  /** Drops a token that is no longer valid. A token that has replaced it is kept. */
  drop(manifest: Manifest, key: string, token: Token): void
}

type Entry = { token: Token | null; pending: Promise<Token> | null }

/** Memory of an entry without its token, in bytes. */
const ENTRY_BYTES = 128

/**
 * Failures of the caller that made the exchange, not of the exchange itself. The next caller makes it again.
 */
const NOT_ITS_FAULT = ['caller_gone', 'deadline_passed', 'upstream_timeout', 'upstream_paced']

/** @param now Milliseconds since the Unix epoch. */
export function createTokens(now: () => number): Tokens {
  // A new version of a connector may capture another token, so each version has its own.
  const versions = new WeakMap<Manifest, number>()
  let lastVersion = 0
  const entries = createCache<Entry>('login_tokens', {
    bytesOf: ({ token }) => ENTRY_BYTES + 2 * (token?.value.length ?? 0),
    isBusy: ({ pending }) => pending !== null,
    groupOf: (key) => key.slice(0, key.indexOf(' ')),
  })

  function placeOf(manifest: Manifest, key: string): string {
    const known = versions.get(manifest)
    if (known === undefined) lastVersion += 1
    const version = known ?? lastVersion
    versions.set(manifest, version)
    return `${version} ${key}`
  }

  function entryOf(place: string): Entry {
    const known = entries.get(place)
    if (known !== undefined) return known
    const made = { token: null, pending: null }
    entries.set(place, made)
    return made
  }

  return {
    async get(manifest, key, make, signal) {
      const place = placeOf(manifest, key)
      for (;;) {
        const entry = entryOf(place)
        if (entry.token !== null && entry.token.goodUntilMs > now()) return entry.token
        const isMine = entry.pending === null
        entry.pending ??= make()
          .then((token) => {
            entry.token = token
            // Set again because the entry has grown by the token and may no longer fit.
            entries.set(place, entry)
            return token
          })
          .finally(() => {
            entry.pending = null
          })
        try {
          return await orAborted(entry.pending, signal)
        } catch (error) {
          const others =
            !isMine &&
            !signal.aborted &&
            error instanceof RuntimeError &&
            NOT_ITS_FAULT.includes(error.code)
          if (!others) throw error
        }
      }
    },
    drop(manifest, key, token) {
      const entry = entries.get(placeOf(manifest, key))
      if (entry?.token === token) entry.token = null
    },
  }
}
