/** The findings of a part of the benchmark, as data, in the form that the report writes. */
import type { Spread } from './statistics.ts'

export type Table = {
  title: string
  columns: readonly string[]
  rows: readonly (readonly string[])[]
}

export type Findings = {
  judged: readonly Judged[]
  tables: readonly Table[]
  /** Notes for the reader, one paragraph each. */
  notes: readonly string[]
}

/** A figure and its goal. */
export type Judged = {
  what: string
  figure: string
  goal: string
  /** Null if nothing was measured, or there is no goal. */
  met: boolean | null
}

/** A goal as text, and its condition. */
export type Goal = { words: string; isMet(value: number): boolean }

export const atLeast = (least: number): Goal => ({
  words: `≥ ${least}`,
  isMet: (value) => value >= least,
})
export const atMost = (most: number, unit = ''): Goal => ({
  words: `≤ ${most}${unit && ` ${unit}`}`,
  isMet: (value) => value <= most,
})
export const below = (bound: number, unit: string): Goal => ({
  words: `< ${bound} ${unit}`,
  isMet: (value) => value < bound,
})
export const above = (bound: number): Goal => ({
  words: `> ${bound}`,
  isMet: (value) => value > bound,
})
export const nothing: Goal = { words: '0', isMet: (value) => value === 0 }

/** Compares a figure over several rounds with its goal. The median counts. */
export function judge(what: string, spread: Spread, goal: Goal, digits = 2, unit = ''): Judged {
  return {
    what,
    figure: spreadText(spread, digits, unit),
    goal: goal.words,
    met: goal.isMet(spread.median),
  }
}

/** A figure that could not be measured. */
export const unmeasured = (what: string, why: string, goal: Goal): Judged => ({
  what,
  figure: `not measured: ${why}`,
  goal: goal.words,
  met: null,
})

/** Such as `0.87 (0.84–0.91)`, or a single value if all rounds agree. */
export function spreadText({ median, min, max }: Spread, digits = 2, unit = ''): string {
  const [middle, low, high] = [median, min, max].map((value) => value.toFixed(digits))
  const text = low === high ? middle : `${middle} (${low}–${high})`
  return `${text}${unit && ` ${unit}`}`
}
