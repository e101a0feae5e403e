/** Pauses and timeouts of background work and pages, in one place, so that tests can shorten them. */

export type Pace = {
  /** Interval between looks for due work, in milliseconds. */
  lookMs: number
  /** Time that a host works on one sync before others get their turn, in milliseconds. */
  turnMs: number
  /** Interval at which the lease of a sync is renewed, in milliseconds. The lease lasts fifteen seconds. */
  renewMs: number
  /** Minimum time for a system to show a write, in milliseconds. */
  consistencyMs: number
  /** Maximum time for a webhook's response, with name resolution and connection, in milliseconds. */
  answerMs: number
  /** Timeout of a page that is read, in milliseconds. */
  pageMs: number
  /** Timeout of a submitted form or a file, in milliseconds: these may call other systems and read much. */
  formMs: number
  /** Timeout of a read by a program, in milliseconds. Within it, a query may read all rows. */
  readMs: number
}

/** Default pace. */
const PACE: Pace = {
  lookMs: 2000,
  turnMs: 60_000,
  renewMs: 4000,
  consistencyMs: 2000,
  answerMs: 15_000,
  pageMs: 30_000,
  formMs: 120_000,
  readMs: 120_000,
}

/** Returns the default pace with the given overrides. */
export const timingOf = (given: Partial<Pace> = {}): Pace => ({ ...PACE, ...given })
