/**
 * Requests within a time, told in the headers of core-interface.md section 3. Each host counts for itself,
 * which `x-ratelimit-scope` says: several hosts of a database let through as many times more.
 */
import type { Context } from 'hono'
import { createCache } from '../../bounded/cache.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import type { Env } from '../edge/env.ts'

type RateLimit = {
  /** Counts a request; the headers that report it, and whether it may go on. */
  count(key: string, nowMs: number): { allowed: boolean; headers: Record<string, string> }
}

/** What a window takes in memory, in bytes. */
const WINDOW_BYTES = 64

type Limit = { most: number; perMs: number; over: 'host' | 'database' }

/** @param limit A row of CALLER_LIMITS, with the number that the operator has set where a setting says it. */
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

/** Counts a request, and says in the headers of its answer how many are left. @throws CoreError too_many_requests */
export function keepRate(c: Context<Env>, rate: RateLimit, key: string): void {
  const { allowed, headers } = rate.count(key, Date.now())
  tellRate(c, headers)
  if (!allowed) throw new CoreError('too_many_requests', 'Too many requests; see Retry-After')
}

/** The same for pages, whose headers say nothing of it before it is too much. @throws CoreError too_many_requests */
export function keepRateQuietly(
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
