/** Medians, percentiles, and ratios of figures of the same round. */

/** A figure over several rounds. */
export type Spread = { median: number; min: number; max: number }

/** The value below which this share of the sorted values lies; 0 if there are none. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

/** The middle value, the upper one of two; 0 if there are none. */
export const median = (values: readonly number[]): number => quantile(sort(values), 0.5)

/** Median, smallest and largest value. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = sort(values)
  return { median: quantile(sorted, 0.5), min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 }
}

/**
 * Each figure divided by that of the same round: a short slowdown of the machine affects both and leaves the
 * ratio unchanged. Rounds that one side lacks are left out.
 */
export function ratios(figures: readonly number[], to: readonly number[]): number[] {
  return pairs(figures, to).map(([a, b]) => a / b)
}

/** Each figure minus that of the same round. */
export function differences(figures: readonly number[], from: readonly number[]): number[] {
  return pairs(figures, from).map(([a, b]) => a - b)
}

const sort = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b)

const pairs = (a: readonly number[], b: readonly number[]): [number, number][] =>
  a.slice(0, b.length).map((one, round) => [one, b[round] as number])
