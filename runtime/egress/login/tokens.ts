/** Tokens that exchanges gave, for all calls of the process: one exchange at a time for each tenant. */
import { RuntimeError } from '../../contract/errors.ts'
import type { Manifest } from '../../contract/manifest.ts'
import { orAborted } from '../or-aborted.ts'
import type { Token } from './capture.ts'

export type Tokens = {
  /** The token that is kept, or the one that `make` gives; whoever asks meanwhile waits for the same. */
  get(
    manifest: Manifest,
    key: string,
    make: () => Promise<Token>,
    signal: AbortSignal,
  ): Promise<Token>
  /** The token is no longer good; another one that has taken its place is kept. */
  drop(manifest: Manifest, key: string, token: Token): void
}

/** Most tokens of one version of a connector; the oldest go first. */
const MAX_TOKENS = 1000

type Entry = { token: Token | null; pending: Promise<Token> | null }

/** Failures of whoever made the exchange, which say nothing about it: the next one makes it. */
const NOT_ITS_FAULT = ['caller_gone', 'deadline_passed', 'upstream_timeout', 'upstream_paced']

/** @param now Milliseconds since the Unix epoch. */
export function createTokens(now: () => number): Tokens {
  // A new version of a connector may capture something else: its tokens are its own.
  const byVersion = new WeakMap<Manifest, Map<string, Entry>>()

  function entryOf(manifest: Manifest, key: string): Entry {
    const entries = byVersion.get(manifest) ?? new Map<string, Entry>()
    byVersion.set(manifest, entries)
    const entry = entries.get(key) ?? { token: null, pending: null }
    entries.delete(key)
    entries.set(key, entry)
    for (const oldest of entries.keys()) {
      if (entries.size <= MAX_TOKENS) break
      entries.delete(oldest)
    }
    return entry
  }

  return {
    async get(manifest, key, make, signal) {
      for (;;) {
        const entry = entryOf(manifest, key)
        if (entry.token !== null && entry.token.goodUntilMs > now()) return entry.token
        const isMine = entry.pending === null
        entry.pending ??= make()
          .then((token) => {
            entry.token = token
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
      const entry = byVersion.get(manifest)?.get(key)
      if (entry?.token === token) entry.token = null
    },
  }
}
