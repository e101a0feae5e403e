/** Requests per minute and token, told in the headers of core-interface.md section 3. */
import { createCache } from '../../contract/cache.ts'
import { CACHES } from '../../contract/caches.ts'

export type RateLimit = {
  /** Counts a request; what is to be told of it, and whether it may go on. */
  count(key: string, nowMs: number): { allowed: boolean; headers: Record<string, string> }
}

const WINDOW_MS = CACHES.rate_windows.goodMs
/** What a window takes in memory, in bytes. */
const WINDOW_BYTES = 64

export function createRateLimit(perMinute: number): RateLimit {
  const windows = createCache<{ endMs: number; used: number }>('rate_windows', {
    bytesOf: () => WINDOW_BYTES,
  })
  return {
    count(key, nowMs) {
      let window = windows.get(key)
      if (!window || window.endMs <= nowMs) {
        window = { endMs: nowMs + WINDOW_MS, used: 0 }
        windows.set(key, window)
      }
      window.used += 1
      return {
        allowed: window.used <= perMinute,
        headers: {
          'x-ratelimit-limit': String(perMinute),
          'x-ratelimit-remaining': String(Math.max(0, perMinute - window.used)),
          'x-ratelimit-reset': (window.endMs / 1000).toFixed(3),
          'retry-after': String(Math.max(0, Math.ceil((window.endMs - nowMs) / 1000))),
        },
      }
    },
  }
}
