import { describe, expect, test } from 'vitest'
import { differences, median, quantile, ratios, spreadOf } from './statistics.ts'

describe('statistics of the benchmark', () => {
  test('the median is the middle value, whatever the order', () => {
    expect(median([9, 1, 5])).toBe(5)
    expect(median([10, 9])).toBe(10)
    expect(median([])).toBe(0)
  })

  test('a percentile is a measured value', () => {
    const values = Array.from({ length: 200 }, (_, index) => index)
    expect(quantile(values, 0.99)).toBe(198)
    expect(quantile([7], 0.99)).toBe(7)
    expect(quantile([], 0.5)).toBe(0)
  })

  test('a spread has the smallest and the largest value', () => {
    expect(spreadOf([3, 10, 2])).toEqual({ median: 3, min: 2, max: 10 })
  })

  test('ratios are calculated per round, so that a slow round does not penalize a contender', () => {
    expect(ratios([80, 40, 90], [100, 50, 100])).toEqual([0.8, 0.8, 0.9])
  })

  test('a round that one side lacks has no ratio and no difference', () => {
    expect(ratios([1, 2], [2])).toEqual([0.5])
    expect(differences([5, 6], [2, 2, 2])).toEqual([3, 4])
  })
})
