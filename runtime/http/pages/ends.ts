/** Formats the end of access: the day, and the time of day if it is near. */
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'

/** Ends within this time are shown with their time of day, in milliseconds. */
const NEAR_MS = 2 * 24 * 3_600_000

const isNear = (at: Date, now: Date): boolean => at.getTime() - now.getTime() < NEAR_MS

export const endWords = (t: PageLocale, at: Date, now: Date): Markup =>
  (isNear(at, now) ? t.moment : t.day)(at, now)

/** Returns when access of a length in seconds ends if it is granted now; null if it has no end. */
export const endIfGiven = (seconds: number | null | undefined, now: Date): Date | null =>
  seconds === null || seconds === undefined ? null : new Date(now.getTime() + seconds * 1000)

/** Formats the same as a sentence; empty if it has no end. */
export function ifGivenToday(
  t: PageLocale,
  seconds: number | null | undefined,
  now: Date,
): Markup[] {
  const end = endIfGiven(seconds, now)
  return end === null ? [] : [t.w.if_given(endWords(t, end, now), isNear(end, now))]
}
