/** Random choices, reproducible by a seed. */

export type Random = {
  /** From 0 up to, but not including, a number. */
  below(limit: number): number
  chance(probability: number): boolean
  one<T>(items: readonly T[]): T
}

/** mulberry32: small, and good enough for choices. */
export function random(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    chance: (probability) => next() < probability,
    one: (items) => items[below(items.length)] as never,
  }
}
