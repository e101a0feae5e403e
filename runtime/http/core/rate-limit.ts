/**
 * Rate limits, reported in the headers of core-interface.md section 3. Each host counts for itself, as
 * `x-ratelimit-scope` states: n hosts of one database allow n times the limit.
 */
import type { Context } from 'hono'
import { createCache } from '../../bounded/cache.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import type { Env } from '../edge/env.ts'

type RateLimit = {
  /** Counts a request. Returns whether it is allowed, and the headers that report the limit. */
  count(key: string, nowMs: number): { allowed: boolean; headers: Record<string, string> }
}

/** Memory of one window, in bytes. */
const WINDOW_BYTES = 64

type Limit = { most: number; perMs: number; over: 'host' | 'database' }

/**
 * Creates a rate limit.
 *
 * @param limit A row of CALLER_LIMITS, with the operator's number if a setting replaces it.
 */
export function createRateLimit({ most, perMs, over }: Limit): RateLimit {
  const windows = createCache<{ endMs: number; used: number }>('rate_windows', {
    bytesOf: () => WINDOW_BYTES,
  })
  return {
    count(key, nowMs) {
      let window = windows.get(key)
      if (!window || window.endMs <= nowMs) {
        window = { endMs: nowMs + perMs, used: 0 }
        windows.set(key, window)
      }
      window.used += 1
      return {
        allowed: window.used <= most,
        headers: {
          'x-ratelimit-limit': String(most),
          'x-ratelimit-remaining': String(Math.max(0, most - window.used)),
          'x-ratelimit-scope': over,
          'x-ratelimit-reset': (window.endMs / 1000).toFixed(3),
          'retry-after': String(Math.max(0, Math.ceil((window.endMs - nowMs) / 1000))),
        },
      }
    },
  }
}

/** Counts a request, and reports the remaining ones in headers. @throws CoreError `too_many_requests` */
export function enforceRate(c: Context<Env>, rate: RateLimit, key: string): void {
  const { allowed, headers } = rate.count(key, Date.now())
  tellRate(c, headers)
  if (!allowed) throw new CoreError('too_many_requests', 'Too many requests; see Retry-After')
}

/**
 * Does the same for pages, which report the limit only once it is exceeded.
 *
 * @throws CoreError `too_many_requests`
 */
export function enforcePageRate(
  c: Context<Env>,
  rate: RateLimit,
  key: string,
  words: string,
): void {
  const { allowed, headers } = rate.count(key, Date.now())
  if (allowed) return
  tellRate(c, headers)
  throw new CoreError('too_many_requests', words)
}

function tellRate(c: Context<Env>, headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) c.header(name, value)
}
