/** Buckets of times, and the percentiles that are read from them. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  bucketOf,
  LATENCY_BOUNDS_MS,
  LATENCY_BUCKETS,
  percentile,
} from '../../../runtime/contract/models/call-minutes.ts'

const of = (times: readonly number[]): number[] => {
  const buckets = Array.from({ length: LATENCY_BUCKETS }, () => 0)
  for (const ms of times) buckets[bucketOf(ms)] = (buckets[bucketOf(ms)] ?? 0) + 1
  return buckets
}

test('a time is in the first bucket that it fits; the last bucket has the longest times', () => {
  expect([0, 1, 1.01, 30_000].map(bucketOf)).toEqual([0, 0, 1, LATENCY_BUCKETS - 2])
  expect(bucketOf(30_001)).toBe(LATENCY_BUCKETS - 1)
})

test('there is no percentile without calls', () => {
  expect(percentile(of([]), 0.95)).toBeNull()
  expect(percentile([], 0.5)).toBeNull()
})

test('a percentile is interpolated between the bounds of its bucket', () => {
  expect(percentile(of([60, 70, 80, 90]), 0.5)).toBe(75)
  expect(percentile(of([40_000]), 0.5)).toBe(LATENCY_BOUNDS_MS.at(-1))
})

test('a percentile is in the same bucket as the exact one', () => {
  const times = fc.array(fc.double({ min: 0, max: 40_000, noNaN: true }), { minLength: 1 })
  fc.assert(
    fc.property(times, fc.constantFrom(0.5, 0.95, 0.99), (all, part) => {
      const sorted = [...all].sort((a, b) => a - b)
      const at = bucketOf(sorted[Math.ceil(part * sorted.length) - 1] ?? 0)
      const found = percentile(of(all), part) ?? -1
      // Rounded to a tenth.
      expect(found).toBeGreaterThanOrEqual((LATENCY_BOUNDS_MS[at - 1] ?? 0) - 0.1)
      expect(found).toBeLessThanOrEqual((LATENCY_BOUNDS_MS[at] ?? 30_000) + 0.1)
    }),
  )
})
