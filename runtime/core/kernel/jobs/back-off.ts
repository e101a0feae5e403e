/** The one back-off of background work: it doubles from try to try up to a longest pause. */

export type BackOff = { firstMs: number; longestMs: number }

/** The pause after so many failures in a row, in milliseconds. */
export const backOffMs = (failures: number, { firstMs, longestMs }: BackOff): number =>
  Math.min(firstMs * 2 ** Math.min(Math.max(failures - 1, 0), 30), longestMs)

/** The moment so many milliseconds after another. */
export const later = (now: Date, ms: number): Date => new Date(now.getTime() + ms)
