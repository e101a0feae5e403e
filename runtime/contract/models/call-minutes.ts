/** Statistics of the calls of one minute: number, blame for failures, duration, bytes sent and received. */
import type { Blame } from '../errors/error-row.ts'
import { keysOf } from '../schema/keys.ts'

/** Party to blame for a failed call -> its name for people. */
export const BLAMES = {
  caller: 'the caller',
  connector: 'the connector',
  provider: 'the provider',
  operator: 'a setting',
  runtime: 'Keyway',
} as const satisfies Record<Blame, string>

export const BLAME_NAMES: readonly Blame[] = keysOf(BLAMES)

/** Upper bounds of the duration buckets, in milliseconds. One more bucket counts longer calls. */
export const LATENCY_BOUNDS_MS = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000,
] as const

/** Number of buckets. */
export const LATENCY_BUCKETS: number = LATENCY_BOUNDS_MS.length + 1

/** Returns the bucket of a duration. */
export function bucketOf(ms: number): number {
  const at = LATENCY_BOUNDS_MS.findIndex((bound) => ms <= bound)
  return at < 0 ? LATENCY_BUCKETS - 1 : at
}

/**
 * Returns the duration that a part of the calls did not exceed, in milliseconds, or null without calls.
 * Assumes an even spread within a bucket. For the last bucket, which has no upper bound, returns its lower
 * bound.
 */
export function percentile(buckets: readonly number[], part: number): number | null {
  const total = buckets.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const wanted = part * total
  let before = 0
  for (const [at, count] of buckets.entries()) {
    const from = LATENCY_BOUNDS_MS[at - 1] ?? 0
    const to = LATENCY_BOUNDS_MS[at] ?? from
    if (count > 0 && before + count >= wanted) {
      const ms = from + ((wanted - before) / count) * (to - from)
      return Math.round(ms * 10) / 10
    }
    before += count
  }
  return LATENCY_BOUNDS_MS.at(-1) ?? null
}
