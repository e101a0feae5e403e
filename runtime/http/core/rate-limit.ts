/** Requests per minute and token, told in the headers of core-interface.md section 3. */

export type RateLimit = {
  /** Counts a request; what is to be told of it, and whether it may go on. */
  count(key: string, nowMs: number): { allowed: boolean; headers: Record<string, string> }
}

const WINDOW_MS = 60_000
/** Most keys that are remembered; the oldest windows go first. */
const MAX_KEYS = 10_000

export function createRateLimit(perMinute: number): RateLimit {
  const windows = new Map<string, { endMs: number; used: number }>()
  return {
    count(key, nowMs) {
      let window = windows.get(key)
      if (!window || window.endMs <= nowMs) {
        windows.delete(key)
        window = { endMs: nowMs + WINDOW_MS, used: 0 }
        windows.set(key, window)
        if (windows.size > MAX_KEYS) windows.delete(windows.keys().next().value as string)
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
