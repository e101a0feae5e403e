/** What is made of many figures: medians, percentiles, ratios of figures that belong to one round. */

/** A figure over several rounds. */
export type Spread = { median: number; min: number; max: number }

/** The value below which such a share of sorted values lies; 0 where there are none. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

/** The middle value; the upper one of two. 0 where there are none. */
export const median = (values: readonly number[]): number => quantile(sort(values), 0.5)

/** Middle, smallest and largest value. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = sort(values)
  return { median: quantile(sorted, 0.5), min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 }
}

/**
 * Each figure divided by the one of the same round: what slows the whole machine for a moment then slows
 * both, and the ratio stays. Rounds that one side lacks are left out.
 */
export function ratios(figures: readonly number[], to: readonly number[]): number[] {
  return pairs(figures, to).map(([a, b]) => a / b)
}

/** Each figure less the one of the same round. */
export function differences(figures: readonly number[], from: readonly number[]): number[] {
  return pairs(figures, from).map(([a, b]) => a - b)
}

const sort = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b)

const pairs = (a: readonly number[], b: readonly number[]): [number, number][] =>
  a.slice(0, b.length).map((one, round) => [one, b[round] as number])
