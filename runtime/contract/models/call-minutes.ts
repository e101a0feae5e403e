/** What is kept of the calls of a minute: how many, whose fault failures were, how long they took, what they sent. */
import type { Blame } from '../errors/error-row.ts'
import { keysOf } from '../schema/keys.ts'

/** BLAMES: whose fault a failed call was -> the same for people. */
export const BLAMES = {
  caller: 'the caller',
  connector: 'the connector',
  provider: 'the provider',
  operator: 'a setting',
  runtime: 'Keyway',
} as const satisfies Record<Blame, string>

export const BLAME_NAMES: readonly Blame[] = keysOf(BLAMES)

/** Upper bounds of the buckets of times, in milliseconds; what takes longer is in one more. */
export const LATENCY_BOUNDS_MS = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000,
] as const

/** How many buckets there are. */
export const LATENCY_BUCKETS: number = LATENCY_BOUNDS_MS.length + 1

/** The bucket of a time. */
export function bucketOf(ms: number): number {
  const at = LATENCY_BOUNDS_MS.findIndex((bound) => ms <= bound)
  return at < 0 ? LATENCY_BUCKETS - 1 : at
}

/**
 * The time below which a part of the calls stayed, in milliseconds, as if they were spread evenly in their bucket; null
 * without calls. Of the last bucket only its beginning is known.
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
